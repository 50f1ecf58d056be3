import Rebound
import Testing

@Suite("RateLimiterPolicy")
struct RateLimiterPolicyTests {
  @Test("refuses numbers that make no sense, and says which and what to give")
  func invalid() {
    let cases: [(() throws -> RateLimiterPolicy, InvalidRateLimiterPolicy, String)] = [
      ({ try .tokenBucket(0, per: .seconds(1)) }, .permitsOutOfRange(0), "1 … 1,000,000"),
      ({ try .fixedWindow(1_000_001, per: .seconds(1)) }, .permitsOutOfRange(1_000_001), "1 … 1,000,000"),
      ({ try .fixedWindow(1, per: .zero) }, .periodOutOfRange(.zero), "1 µs"),
      ({ try .slidingWindow(1, per: .seconds(2_000_000_000)) }, .periodOutOfRange(.seconds(2_000_000_000)), "1 µs"),
      ({ try .tokenBucket(1, per: .seconds(1), burst: 0) }, .burstOutOfRange(0), "1 … 1,000,000"),
      (
        { try RateLimiterPolicy.fixedWindow(1, per: .seconds(1)).waiting(atMost: .seconds(-1)) },
        .negativeWait(.seconds(-1)), "zero to refuse at once"
      ),
      (
        { try RateLimiterPolicy.fixedWindow(1, per: .seconds(1)).waiting(atMost: .zero, maxQueue: -1) },
        .negativeQueue(-1), "0 to refuse at once"
      ),
    ]
    for (make, error, text) in cases {
      #expect(throws: error) { try make() }
      #expect("\(error)".contains(text))
    }
  }

  @Test("brings the numbers of the feedback into range")
  func feedback() {
    let low = RateLimiterPolicy.Feedback(decrease: .nan, scale: -1, floor: 0)
    #expect((low.decrease, low.scale, low.floor) == (0.01, 0, 0.001))
    let high = RateLimiterPolicy.Feedback(decrease: 9, scale: .infinity, floor: 9)
    #expect((high.decrease, high.scale, high.floor) == (1, 1e9, 1))
  }
}
