import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Durations on a scheduler")
struct SchedulerTimeDurationTests {
  @Test(
    "become strides and durations again, to the nanosecond",
    arguments: [
      .zero, .nanoseconds(1), .nanoseconds(999_999_999), .seconds(1), .milliseconds(1_234_567), .longestDelay,
    ] as [Duration]
  )
  func roundTrip(duration: Duration) {
    expectEqual(Duration(approximating: VirtualTime.Stride(duration)), duration)
    expectEqual(Duration(approximating: DispatchQueue.SchedulerTimeType.Stride(duration)), duration)
  }

  @Test("are no shorter as strides, to be between two nanoseconds either")
  func betweenNanoseconds() {
    /// As code does that knows no more of a scheduler.
    func rounded<Stride: SchedulerTimeIntervalConvertible & Comparable & SignedNumeric>(
      _ duration: Duration,
      _: Stride.Type
    ) -> Duration {
      Duration(approximating: Stride(duration))
    }
    let table: [(Duration, Duration)] = [
      (.seconds(1) / 3, .nanoseconds(333_333_334)), (.nanoseconds(1) / 3, .nanoseconds(1)),
      (.seconds(4) / 3, .nanoseconds(1_333_333_334)),
    ]
    for (duration, expected) in table {
      expectEqual(rounded(duration, VirtualTime.Stride.self), expected)
      expectEqual(rounded(duration, DispatchQueue.SchedulerTimeType.Stride.self), expected)
    }
  }

  @Test("are zero where time went back, or where there is none")
  func noTime() {
    expectEqual(Duration(approximating: VirtualTime.Stride.seconds(-1)), .zero)
    let now = ImmediateScheduler.shared.now
    expectEqual(Duration(approximating: now.distance(to: now)), .zero)
  }
}
