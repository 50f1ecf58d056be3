import Expectations
import Rebound
import Testing

@Suite("Jitter")
struct JitterTests {
  @Test(
    "knows over how wide a span it spreads a delay of 8 seconds",
    arguments: [
      (.none, 0), (.ratio(0.25), 2), (.equal, 4), (.full, 8), (.decorrelated, 8), (.smoothDecorrelated, 8),
    ] as [(Jitter, Double)]
  )
  func width(jitter: Jitter, expected: Double) {
    expectEqual(jitter.width(around: 8), expected)
  }
}
