import Rebound
import Testing

@Suite("OutboxPolicy")
struct OutboxPolicyTests {
  @Test("the standard policy is one that could have been made")
  func standard() throws {
    let made = try OutboxPolicy()
    #expect(made.capacity == OutboxPolicy.standard.capacity)
    #expect(made.timeToLive == .seconds(604_800))
  }
}
