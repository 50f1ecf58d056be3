import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("RetryPolicy")
struct RetryPolicyTests {
  private typealias Policy = RetryPolicy<TestFailure>

  @Test("has the defaults that its documentation names")
  func defaults() throws {
    let policy = try Policy()
    expectEqual(policy.maxRetries, 2)
    expectEqual(policy.maxHint, .seconds(120))
    #expect(policy.deadline == nil)
    let longest = Array(policy.backoff.delays(random: RandomSource { 0.999_999_999 }).prefix(8))
    expectEqual(longest.map { ($0 / .seconds(1) * 1_000).rounded() / 1_000 }, [0.5, 1, 2, 4, 8, 16, 20, 20])
    expectEqual(Policy.standard.maxRetries, 2)
    expectEqual(Policy.never.maxRetries, 0)
  }

  @Test("keeps what it is given, for ever included")
  func keeps() throws {
    let policy = try Policy(maxRetries: nil, backoff: .immediate, maxHint: .zero, deadline: .seconds(9))
    #expect(policy.maxRetries == nil)
    expectEqual(policy.maxHint, .zero)
    expectEqual(policy.deadline, .seconds(9))
  }

  @Test("knows whether it may leave some failures alone")
  func isConditional() throws {
    #expect(!Policy.standard.isConditional)
    #expect(!(try Policy(maxRetries: 0, deadline: .seconds(1))).onEvent { _ in }.countingInARow().isConditional)
    #expect(Policy.standard.when(\.isTransient).isConditional)
    #expect(Policy.standard.deciding { _, _ in .stop }.onDuplicates(.failIfEmitted).isConditional)
  }

  @Test(
    "made from numbers that make no sense, has them in range",
    arguments: [(-1, .seconds(-1), .seconds(-1)), (nil, .zero, .zero)] as [(Int?, Duration, Duration?)]
  )
  func clamps(maxRetries: Int?, maxHint: Duration, deadline: Duration?) {
    let clamped = Policy(clamping: maxRetries, backoff: .constant(.seconds(-1)), maxHint: maxHint, deadline: deadline)
    expectEqual(clamped.maxRetries, maxRetries.map { _ in 0 })
    expectEqual(clamped.maxHint, .zero)
    expectEqual(clamped.deadline, .zero)
  }

  @Test("tells every observer")
  func observers() {
    let (first, second) = (RetryLog(), RetryLog())
    var machine = RetryMachine(Policy.standard.onEvent(first.write).onEvent(second.write))
    _ = machine.failed(with: .transient, elapsed: .zero)
    expectEqual(first.events.count, 1)
    expectEqual(second.events.count, 1)
  }

  @Test("what is made of all failures has the words for people of the last one")
  func wordsOfExhaustion() async {
    let policy = RetryPolicy<any Error>(clamping: 1, backoff: .immediate).onExhaustion { $0 }
    let exhausted = await #expect(throws: RetryExhausted<any Error>.self) {
      try await policy.run { throw TimedOut(.attempt, limit: .seconds(1)) }
    }
    expectEqual(exhausted?.attempts, 2)
    expectEqual(exhausted?.localizedDescription, "The service did not answer in time.")
    expectEqual(exhausted?.recoverySuggestion, "Try again.")
  }
}
