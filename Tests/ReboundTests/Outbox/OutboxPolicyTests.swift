import Foundation
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

  @Test("a full outbox has words for people")
  func words() {
    let full = OutboxFull(pending: 2, deadLetters: 1, bytes: 9, capacity: 2, maxBytes: 100)
    #expect(full.localizedDescription == "There is no room to keep more for later.")
    #expect(full.recoverySuggestion == "Wait until some of it is sent, or decide about what could not be sent.")
  }
}
