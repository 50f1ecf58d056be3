import Rebound
import ReboundTesting
import Testing

@Suite("RetryPolicy")
struct RetryPolicyTests {
  private typealias Policy = RetryPolicy<TestFailure>

  @Test("has the defaults that its documentation names")
  func defaults() throws {
    let policy = try Policy()
    #expect(policy.maxRetries == 2)
    #expect(policy.maxHint == .seconds(120))
    #expect(policy.deadline == nil)
    let longest = Array(policy.backoff.delays(random: RandomSource { 0.999_999_999 }).prefix(8))
    #expect(longest.map { ($0 / .seconds(1) * 1_000).rounded() / 1_000 } == [0.5, 1, 2, 4, 8, 16, 20, 20])
    #expect(Policy.standard.maxRetries == 2)
    #expect(Policy.never.maxRetries == 0)
  }

  @Test("keeps what it is given, for ever included")
  func keeps() throws {
    let policy = try Policy(maxRetries: nil, backoff: .immediate, maxHint: .zero, deadline: .seconds(9))
    #expect(policy.maxRetries == nil)
    #expect(policy.maxHint == .zero)
    #expect(policy.deadline == .seconds(9))
  }

  @Test("knows whether it may leave some failures alone")
  func isConditional() throws {
    #expect(!Policy.standard.isConditional)
    #expect(!(try Policy(maxRetries: 0, deadline: .seconds(1))).onEvent { _ in }.countingInARow().isConditional)
    #expect(Policy.standard.when(\.isTransient).isConditional)
    #expect(Policy.standard.deciding { _, _ in .stop }.onDuplicates(.failIfEmitted).isConditional)
  }

  @Test(
    "refuses numbers that make no sense, with the number in the error",
    arguments: [
      ((-1, .standard, .zero, nil), .negativeRetries(-1)),
      ((1, .constant(.seconds(-1)), .zero, nil), .negativeDelay(.seconds(-1))),
      ((1, .steps(.seconds(1), .seconds(-3)), .zero, nil), .negativeDelay(.seconds(-3))),
      ((1, .linear(.zero), .zero, nil), .baseNotPositive(.zero)),
      ((1, .exponential(from: .zero), .zero, nil), .baseNotPositive(.zero)),
      ((1, .exponential(from: .seconds(1), multiplier: 0.5), .zero, nil), .multiplierOutOfRange(0.5)),
      ((1, .exponential(from: .seconds(1), multiplier: .infinity), .zero, nil), .multiplierOutOfRange(.infinity)),
      (
        (1, .exponential(from: .seconds(2), upTo: .seconds(1)), .zero, nil),
        .capBelowBase(cap: .seconds(1), base: .seconds(2))
      ),
      ((1, .constant(.zero).capped(at: .zero), .zero, nil), .capNotPositive(.zero)),
      ((1, .custom(upTo: .seconds(-1)) { _ in .zero }, .zero, nil), .capNotPositive(.seconds(-1))),
      ((1, .standard.jittered(.ratio(1.5)), .zero, nil), .jitterRatioOutOfRange(1.5)),
      ((1, .standard.jittered(.ratio(-0.5)), .zero, nil), .jitterRatioOutOfRange(-0.5)),
      ((1, .standard, .seconds(-1), nil), .negativeMaxHint(.seconds(-1))),
      ((1, .standard, .zero, .zero), .deadlineNotPositive(.zero)),
    ] as [((Int?, Backoff, Duration, Duration?), InvalidRetryPolicy)]
  )
  func refuses(numbers: (Int?, Backoff, Duration, Duration?), expected: InvalidRetryPolicy) {
    let (maxRetries, backoff, maxHint, deadline) = numbers
    #expect(throws: expected) {
      try Policy(maxRetries: maxRetries, backoff: backoff, maxHint: maxHint, deadline: deadline)
    }
    // The other way of making one takes the same numbers, and cannot fail.
    let clamped = Policy(clamping: maxRetries, backoff: backoff, maxHint: maxHint, deadline: deadline)
    #expect(clamped.maxRetries ?? 0 >= 0)
    #expect(clamped.maxHint >= .zero)
  }

  @Test("refuses what is not a number")
  func refusesNaN() {
    let withNaN: [Backoff] = [.exponential(from: .seconds(1), multiplier: .nan), .standard.jittered(.ratio(.nan))]
    for backoff in withNaN {
      #expect(throws: InvalidRetryPolicy.self) { try Policy(backoff: backoff) }
    }
  }

  @Test("tells every observer")
  func observers() {
    let (first, second) = (RetryLog(), RetryLog())
    var machine = RetryMachine(Policy.standard.onEvent(first.write).onEvent(second.write))
    _ = machine.failed(with: .transient, elapsed: .zero)
    #expect(first.events.count == 1)
    #expect(second.events.count == 1)
  }
}
