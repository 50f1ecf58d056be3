import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// An account that is elsewhere: it answers when the test says so.
private final class DistantAccount: RetryAccount {
  typealias Answer = @Sendable (RetryBudget.Retry?) -> Void

  let asked = Log<Answer>()
  let settled = Log<Bool>()

  func begin(at now: Duration) {}
  func fail() {}
  func succeed(afterRetry: Bool) {}
  func grant(at now: Duration) -> RetryBudget.Retry? { nil }
  var answersLater: Bool { true }
  func ask(at now: Duration, _ answer: @escaping Answer) { asked.write(answer) }
  func snapshot(at now: Duration) -> RetryBudget.Snapshot { .init(available: 0, queued: 0, granted: 0, denied: 0) }

  func makeRetry() -> RetryBudget.Retry { RetryBudget.Retry { begins, _ in self.settled.write(begins) } }
}

@Suite(.virtualTime)
struct RetryAccountTests {
  private let scheduler = TestScheduler.current
  private let account = DistantAccount()
  private let attempts = Log<Int>()
  private let recorder = Recorder<Int, TestFailure>()

  private func policy() -> RetryPolicy<TestFailure> {
    RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))).within(RetryBudget(account))
  }

  /// Succeeds at the third attempt.
  private func subscribe(_ policy: RetryPolicy<TestFailure>) {
    Deferred { [attempts] in
      let number = attempts.number(0)
      return (number < 3 ? Result<Int, TestFailure>.failure(.transient) : .success(number)).publisher
    }
    .retry(policy)
    .subscribe(recorder)
  }

  @Test func aRetryWaitsForTheAnswerAndThenForItsDelay() {
    subscribe(policy())
    #expect((attempts.count, account.asked.count) == (1, 1))
    scheduler.advance(by: 5)
    expectEqual(attempts.count, 1)
    account.asked.entries[0](account.makeRetry())
    expectEqual(attempts.count, 1)
    scheduler.advance(by: 1)
    #expect((attempts.count, account.asked.count) == (2, 2))
    expectEqual(account.settled.entries, [true])
    account.asked.entries[1](account.makeRetry())
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [3])
    expectEqual(account.settled.entries, [true, true])
  }

  @Test func aDenialPassesTheErrorOn() {
    let events = Log<RetryEvent>()
    subscribe(policy().onEvent { events.write($0) })
    expectEqual(events.count, 0)
    account.asked.entries[0](nil)
    expectEqual(recorder.failure, .transient)
    expectEqual(events.entries.map(\.outcome), [.stopped(.budgetExhausted)])
  }

  @Test func whatIsGrantedBehindACancelIsGivenBack() {
    subscribe(policy())
    recorder.cancel()
    account.asked.entries[0](account.makeRetry())
    scheduler.advance(by: 10)
    expectEqual(account.settled.entries, [false])
    expectEqual(attempts.count, 1)
  }

  @Test func anAsynchronousFunctionWaitsForTheAnswer() async throws {
    let clock = JumpingClock()
    async let answer = policy().run(time: clock.time) { [attempts] () throws(TestFailure) in
      let number = attempts.number(0)
      if number < 2 { throw .transient }
      return number
    }
    await account.asked.until(1)
    expectEqual(attempts.count, 1)
    account.asked.entries[0](account.makeRetry())
    try await expectEqual(answer, 2)
    expectEqual(account.settled.entries, [true])
  }
}
