import Expectations
import Rebound
import Testing

@Suite("RateLimiterPolicy")
struct RateLimiterPolicyTests {
  @Test("brings the numbers of the feedback into range")
  func feedback() {
    let low = RateLimiterPolicy.Feedback(clamping: .nan, scale: -1, floor: 0)
    #expect((low.decrease, low.scale, low.floor) == (0.01, 0, 0.001))
    let high = RateLimiterPolicy.Feedback(clamping: 9, scale: .infinity, floor: 9)
    #expect((high.decrease, high.scale, high.floor) == (1, 1e9, 1))
  }

  @Test("refuses a feedback that makes no sense, with the setting's name")
  func refuses() throws {
    typealias Feedback = RateLimiterPolicy.Feedback
    for decrease in [0, 1.1, .nan] {
      expectEqual(#expect(throws: InvalidPolicy.self) { try Feedback(decrease: decrease) }?.setting, "decrease")
    }
    for scale in [-1, 1e10, .infinity, .nan] {
      expectEqual(#expect(throws: InvalidPolicy.self) { try Feedback(scale: scale) }?.setting, "scale")
    }
    for floor in [0, 2, .nan] {
      expectEqual(#expect(throws: InvalidPolicy.self) { try Feedback(floor: floor) }?.setting, "floor")
    }
    try expectEqual(Feedback(), .standard)
    try expectEqual(Feedback(decrease: 1), .pausesOnly)
    try expectEqual(Feedback(decrease: 0.01, scale: 0, floor: 0.001).floor, 0.001)
  }
}
