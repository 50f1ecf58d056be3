import Combine
import Dispatch
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
    #expect(Duration(approximating: VirtualTime.Stride(duration)) == duration)
    #expect(Duration(approximating: DispatchQueue.SchedulerTimeType.Stride(duration)) == duration)
  }

  @Test("are zero where time went back, or where there is none")
  func noTime() {
    #expect(Duration(approximating: VirtualTime.Stride.seconds(-1)) == .zero)
    let now = ImmediateScheduler.shared.now
    #expect(Duration(approximating: now.distance(to: now)) == .zero)
  }
}
