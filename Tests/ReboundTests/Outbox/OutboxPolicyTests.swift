import Rebound
import Testing

@Suite("OutboxPolicy")
struct OutboxPolicyTests {
  @Test("numbers that make no sense are refused, with the number")
  func invalid() {
    #expect(throws: InvalidOutboxPolicy.capacityNotPositive(0)) { try OutboxPolicy(capacity: 0) }
    #expect(throws: InvalidOutboxPolicy.bytesNotPositive(-1)) { try OutboxPolicy(maxBytes: -1) }
    #expect(throws: InvalidOutboxPolicy.concurrencyNotPositive(0)) { try OutboxPolicy(maxConcurrent: 0) }
    #expect(throws: InvalidOutboxPolicy.attemptsNotPositive(0)) { try OutboxPolicy(maxAttempts: 0) }
    #expect(throws: InvalidOutboxPolicy.timeToLiveNotPositive(.zero)) { try OutboxPolicy(timeToLive: .zero) }
    #expect(throws: InvalidOutboxPolicy.negativeMaxHint(.seconds(-1))) { try OutboxPolicy(maxHint: .seconds(-1)) }
    #expect(throws: InvalidOutboxPolicy.backoff(.negativeDelay(.seconds(-1)))) {
      try OutboxPolicy(backoff: .constant(.seconds(-1)))
    }
    #expect("\(InvalidOutboxPolicy.capacityNotPositive(0))" == "Outbox: capacity is 0. Give at least 1.")
  }

  @Test("the standard policy is one that could have been made")
  func standard() throws {
    let made = try OutboxPolicy()
    #expect(made.capacity == OutboxPolicy.standard.capacity)
    #expect(made.timeToLive == .seconds(604_800))
  }
}
