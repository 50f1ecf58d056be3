import Rebound
import Testing

@Suite("AdaptiveLimitPolicy")
struct AdaptiveLimitPolicyTests {
  @Test("refuses numbers that make no sense, and says which and what to give")
  func invalid() {
    let cases: [(() throws -> AdaptiveLimitPolicy, InvalidAdaptiveLimitPolicy, String)] = [
      ({ try .aimd(in: 0...5) }, .limitNotPositive(0), "at least 1"),
      ({ try .gradient(in: -1...5) }, .limitNotPositive(-1), "at least 1"),
      ({ try .aimd(decrease: 1) }, .decreaseOutOfRange(1), "0.9 takes a tenth away"),
      ({ try .aimd(slow: .zero) }, .slowNotPositive(.zero), "or nil"),
      ({ try .gradient(tolerance: 0.5) }, .toleranceOutOfRange(0.5), "from 1"),
      ({ try .gradient(smoothing: 0) }, .smoothingOutOfRange(0), "above 0"),
      ({ try .gradient(headroom: 0) }, .headroomNotPositive(0), "at least 1"),
    ]
    for (make, error, text) in cases {
      #expect(throws: error) { try make() }
      #expect("\(error)".contains(text))
    }
    #expect(throws: InvalidAdaptiveLimitPolicy.self) { try AdaptiveLimitPolicy.aimd(decrease: .nan) }
    #expect(throws: InvalidAdaptiveLimitPolicy.self) { try AdaptiveLimitPolicy.gradient(tolerance: .infinity) }
  }
}
