import Expectations
import Foundation
import Rebound
import ReboundOutbox
import Testing

@Suite("OutboxPolicy")
struct OutboxPolicyTests {
  @Test("the standard policy is one that could have been made")
  func standard() throws {
    let made = try OutboxPolicy()
    expectEqual(made.capacity, OutboxPolicy.standard.capacity)
    expectEqual(made.timeToLive, .seconds(604_800))
  }

  /// A policy that cannot be made, and what is said of it.
  struct Refusal: CustomTestStringConvertible, Sendable {
    let text: String
    let make: @Sendable () throws -> OutboxPolicy

    init(_ text: String, _ make: @escaping @Sendable () throws -> OutboxPolicy) {
      self.text = text
      self.make = make
    }

    var testDescription: String { text }
  }

  @Test(
    "a setting that makes no sense is refused, with its name, its value and what to give instead",
    arguments: [
      Refusal("Outbox: capacity is 0. Give at least 1.") { try OutboxPolicy(capacity: 0) },
      Refusal("Outbox: maxBytes is -1. Give at least what one entry takes.") { try OutboxPolicy(maxBytes: -1) },
      Refusal("Outbox: maxConcurrent is 0. Give at least 1.") { try OutboxPolicy(maxConcurrent: 0) },
      Refusal("Outbox: maxAttempts is 0. Give at least 1, or nil to try for as long as the entry lives.") {
        try OutboxPolicy(maxAttempts: 0)
      },
      Refusal("Outbox: timeToLive is 0.0 seconds. Give a positive duration, or nil for entries that never expire.") {
        try OutboxPolicy(timeToLive: .zero)
      },
      Refusal("Outbox: maxHint is -1.0 seconds. Give zero to take no notice of hints, or a positive duration.") {
        try OutboxPolicy(maxHint: .seconds(-1))
      },
      Refusal("Outbox: delay is -1.0 seconds. Give zero to retry at once, or a positive duration.") {
        try OutboxPolicy(backoff: .constant(.seconds(-1)))
      },
    ]
  )
  func refuses(_ refusal: Refusal) {
    let error = #expect(throws: InvalidPolicy.self) { _ = try refusal.make() }
    expectEqual(error?.description, refusal.text)
  }

  @Test("a full outbox has words for people")
  func words() {
    let full = OutboxFull(pending: 2, deadLetters: 1, bytes: 9, capacity: 2, maxBytes: 100)
    expectEqual(full.localizedDescription, "There is no room to keep more for later.")
    expectEqual(full.recoverySuggestion, "Wait until some of it is sent, or decide about what could not be sent.")
  }
}
