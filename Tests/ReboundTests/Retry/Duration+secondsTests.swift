import Expectations
import Rebound
import Testing

@Suite("Duration in seconds")
struct DurationSecondsTests {
  @Test(
    "rounds once to nanoseconds, and saturates",
    arguments: [
      (0, .zero), (1.5, .milliseconds(1_500)), (1e-9, .nanoseconds(1)), (4e-10, .zero), (6e-10, .nanoseconds(1)),
      (-1, .zero), (-.infinity, .zero), (1e9, .longestDelay), (1e300, .longestDelay), (.infinity, .longestDelay),
      (.nan, .longestDelay),
    ] as [(Double, Duration)]
  )
  func saturates(seconds: Double, expected: Duration) {
    expectEqual(Duration(saturatingSeconds: seconds), expected)
  }

  @Test("clamps to what a delay can be")
  func clamps() {
    expectEqual(Duration.seconds(-1).clampedToDelay, .zero)
    expectEqual(Duration.seconds(5).clampedToDelay, .seconds(5))
    expectEqual(Duration.seconds(Int64.max).clampedToDelay, .longestDelay)
    expectEqual(Duration.milliseconds(1_250).inSeconds, 1.25)
  }
}
