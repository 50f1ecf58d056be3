import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RetryMachine", .virtualTime)
struct RetryMachineTests {
  private typealias Policy = RetryPolicy<TestFailure>

  private let log = RetryLog()

  /// Lets attempts fail with these errors, each a second after the one before, until the machine stops.
  private func run(_ policy: RetryPolicy<TestFailure>, failures: [TestFailure]) -> TestFailure? {
    var machine = RetryMachine(policy.onEvent(log.write))
    for (second, failure) in failures.enumerated() {
      if case .stop(let error) = machine.failed(with: failure, elapsed: .seconds(second)) { return error }
    }
    return nil
  }

  @Test("retries as often as allowed, then passes the last error on")
  func countsRetries() {
    let error = run(
      Policy(clamping: 2, backoff: .constant(.seconds(1))),
      failures: [.numbered(1), .numbered(2), .numbered(3)]
    )
    expectEqual(error, .numbered(3))
    expectEqual(log.outcomes, [.retrying, .retrying, .stopped(.attemptsExhausted)])
    expectEqual(log.events.map(\.attempt), [1, 2, 3])
    expectEqual(log.events.map(\.elapsed), [.zero, .seconds(1), .seconds(2)])
    expectEqual(log.delays, [.seconds(1), .seconds(1), nil])
    expectEqual(log.events.map(\.delaySource), [.computed, .computed, nil])
    expectEqual(log.events.compactMap { $0.error as? TestFailure }, [.numbered(1), .numbered(2), .numbered(3)])
  }

  @Test("does not retry at all with no retries")
  func zeroRetries() {
    expectEqual(run(Policy.never, failures: [.transient]), .transient)
    expectEqual(log.outcomes, [.stopped(.attemptsExhausted)])
  }

  @Test("retries for ever without a limit")
  func unlimited() {
    #expect(run(Policy(clamping: nil), failures: Array(repeating: .transient, count: 10_000)) == nil)
    expectEqual(log.events.count, 10_000)
    expectEqual(log.events.last?.attempt, 10_000)
  }

  @Test("asks the condition on every failure, also when no retry is left")
  func asksEveryTime() {
    let policy = Policy(clamping: 2, backoff: .immediate).when(\.isTransient)
    expectEqual(run(policy, failures: [.transient, .permanent, .transient]), .permanent)
    expectEqual(log.outcomes, [.retrying, .stopped(.notRetryable)])

    let counter = RetryLog()
    let counting = Policy(clamping: 1, backoff: .immediate).when { error in
      counter.write(RetryEvent(attempt: 0, error: error, outcome: .retrying))
      return true
    }
    _ = run(counting, failures: [.transient, .transient])
    expectEqual(counter.events.count, 2)
  }

  @Test("needs every condition to hold")
  func combinesConditions() {
    let policy = Policy(clamping: 5).when(\.isTransient).when { $0 != .numbered(2) }
    expectEqual(run(policy, failures: [.numbered(1), .numbered(2)]), .numbered(2))
    expectEqual(run(policy, failures: [.permanent]), .permanent)
  }

  @Test("does what the policy's own decision says")
  func decides() {
    let policy = Policy(clamping: 9, backoff: .constant(.seconds(1))).deciding { error, context in
      switch error {
      case .numbered(1): .retry(after: .seconds(7))
      case .numbered(2): .retry()
      case .numbered: .stop(with: .numbered(context.retries))
      default: .stop
      }
    }
    expectEqual(run(policy, failures: [.numbered(1), .numbered(2), .numbered(3)]), .numbered(2))
    expectEqual(log.delays, [.seconds(7), .seconds(1), nil])
    expectEqual(log.events.map(\.delaySource), [.decided, .computed, nil])
    expectEqual(log.outcomes.last, .stopped(.decided))
    expectEqual(run(policy, failures: [.permanent]), .permanent)
  }

  @Test("counts all retries against the number that a decision allows")
  func limitsByDecision() {
    let policy = Policy(clamping: nil).deciding { error, _ in
      error.isTransient ? .retry(retries: 2, delay: .seconds(3)) : .skip
    }
    expectEqual(run(policy, failures: [.numbered(1), .numbered(2), .numbered(3)]), .numbered(3))
    expectEqual(log.delays, [.seconds(3), .seconds(3), nil])
    expectEqual(log.outcomes.last, .stopped(.attemptsExhausted))
    expectEqual(run(policy, failures: [.permanent]), .permanent)
    expectEqual(log.outcomes.last, .stopped(.decided))
  }

  @Test("lets a policy's own limit hold over that of a decision")
  func limitsByPolicy() {
    let policy = Policy(clamping: 1, backoff: .immediate).deciding { _, _ in .retry(retries: 5) }
    expectEqual(run(policy, failures: [.transient, .transient, .transient]), .transient)
    expectEqual(log.events.count, 2)
  }

  @Test("asks a decision about an open breaker, too, and about a failure behind values that were delivered")
  func decidesAboutAll() {
    let isOpen = RetryPolicy<any Error>(clamping: 1).deciding { error, _ in
      error is CircuitOpen ? .stop(with: TestFailure.permanent) : .retry()
    }
    var machine = RetryMachine(isOpen.onEvent(log.write))
    let open = machine.failed(with: CircuitOpen(name: "weather", retryAfter: .seconds(9)), elapsed: .zero)
    if case .stop(let error) = open { expectEqual(error as? TestFailure, .permanent) } else { Issue.record("retries") }

    let once = Policy(clamping: 1).onDuplicates(.failIfEmitted).deciding { _, _ in .stop(with: .permanent) }
    var second = RetryMachine(once.onEvent(log.write))
    let behind = second.failed(with: .transient, elapsed: .zero, delivered: 1)
    if case .stop(let error) = behind { expectEqual(error, .permanent) } else { Issue.record("retries") }
    expectEqual(log.outcomes, [.stopped(.decided), .stopped(.decided)])
  }

  // MARK: Hints

  @Test(
    "waits for the longer of the hint and the back-off",
    arguments: [
      (Duration.seconds(3), Duration.seconds(5), Duration.seconds(5), RetryEvent.DelaySource.hint),
      (.seconds(3), .seconds(2), .seconds(3), .computed),
      (.seconds(3), .seconds(3), .seconds(3), .computed),
      (.seconds(3), .zero, .seconds(3), .computed),
      (.seconds(3), .seconds(-4), .seconds(3), .computed),
      (.seconds(3), .seconds(120), .seconds(120), .hint),
      (.zero, .seconds(1), .seconds(1), .hint),
    ]
  )
  func hintIsFloor(backoff: Duration, hint: Duration, expected: Duration, source: RetryEvent.DelaySource) {
    #expect(run(Policy(clamping: 1, backoff: .constant(backoff)), failures: [.busy(hint)]) == nil)
    expectEqual(log.delays, [expected])
    expectEqual(log.events.first?.delaySource, source)
    expectEqual(log.events.first?.hint, max(hint, .zero))
  }

  @Test("is not bound by the back-off's cap when it follows a hint")
  func hintOverCap() {
    let policy = Policy(clamping: 1, backoff: .exponential(from: .seconds(1), upTo: .seconds(2), jitter: .none))
    _ = run(policy, failures: [.busy(.seconds(30))])
    expectEqual(log.delays, [.seconds(30)])
  }

  @Test("stops when the hint is too long, and passes on the error that tells how long")
  func hintOverLimit() {
    let hint = Duration.seconds(120) + .nanoseconds(1)
    expectEqual(run(Policy(clamping: 5), failures: [.busy(hint)]), .busy(hint))
    expectEqual(log.outcomes, [.stopped(.hintTooLong)])
    expectEqual(log.events.first?.hint, hint)

    let patient = Policy(clamping: 5, backoff: .immediate, maxHint: .seconds(600))
    #expect(run(patient, failures: [.busy(hint)]) == nil)
    let impatient = Policy(clamping: 5, maxHint: .zero)
    expectEqual(run(impatient, failures: [.busy(.nanoseconds(1))]), .busy(.nanoseconds(1)))
  }

  @Test("spreads a hint upward only, as wide as the jitter spreads the back-off")
  func jitterOnHint() {
    let backoff = Backoff.exponential(from: .seconds(1), upTo: .seconds(20), jitter: .full)
    for number in [0, 0.25, 0.999] {
      let log = RetryLog()
      var machine = RetryMachine(
        Policy(clamping: nil, backoff: backoff, random: .fixed(number)).onEvent(log.write)
      )
      for _ in 0..<3 { _ = machine.failed(with: .busy(.seconds(60)), elapsed: .zero) }
      let expected = [1.0, 2, 4].map { Duration.seconds(60) + .seconds($0 * number) }
      expectEqual(log.delays, expected)
    }
  }

  @Test("does not count a hint as a delay drawn, so decorrelated jitter does not grow from it")
  func hintLeavesSequenceAlone() {
    let backoff = Backoff.exponential(from: .seconds(1), upTo: .seconds(1_000), jitter: .decorrelated)
    let policy = Policy(clamping: nil, backoff: backoff, random: .fixed(0.5))
    #expect(run(policy, failures: [.busy(.seconds(100)), .transient]) == nil)
    expectEqual(log.delays.last, .seconds(3.5))
  }

  @Test("takes a hint as a floor for a decided delay, too")
  func hintOverDecision() {
    let policy = Policy(clamping: nil).deciding { _, _ in .retry(after: .seconds(2)) }
    _ = run(policy, failures: [.busy(.seconds(1)), .busy(.seconds(9))])
    expectEqual(log.delays, [.seconds(2), .seconds(9)])
    expectEqual(log.events.map(\.delaySource), [.decided, .hint])
  }

  @Test("reads a hint in the way that the policy is told")
  func ownHint() {
    let policy = Policy(clamping: nil, backoff: .immediate).hinted { $0 == .numbered(4) ? .seconds(4) : nil }
    _ = run(policy, failures: [.numbered(4), .busy(.seconds(8))])
    expectEqual(log.delays, [.seconds(4), .zero])
  }

  // MARK: Deadline

  @Test("does not wait for what would come at the deadline or after")
  func deadline() {
    let policy = Policy(clamping: nil, backoff: .constant(.seconds(3)), deadline: .seconds(5))
    // After 0 s and 1 s the wait ends in time; after 2 s it would end at 5 s.
    expectEqual(run(policy, failures: [.numbered(0), .numbered(1), .numbered(2)]), .numbered(2))
    expectEqual(log.outcomes, [.retrying, .retrying, .stopped(.deadlineExceeded)])
  }

  @Test("stops when the deadline has passed, even if it would retry at once")
  func deadlinePassed() {
    let policy = Policy(clamping: nil, backoff: .immediate, deadline: .seconds(1))
    expectEqual(run(policy, failures: [.numbered(0), .numbered(1)]), .numbered(1))
    expectEqual(log.outcomes, [.retrying, .stopped(.deadlineExceeded)])
  }

  @Test("measures a hint against the deadline")
  func hintOverDeadline() {
    let policy = Policy(clamping: nil, backoff: .immediate, deadline: .seconds(10))
    expectEqual(run(policy, failures: [.busy(.seconds(10))]), .busy(.seconds(10)))
    expectEqual(log.outcomes, [.stopped(.deadlineExceeded)])
  }

  @Test(
    "keeps the nearer of its own deadline and the call's, which began when the call did",
    arguments: [
      (own: nil, call: 6, outcomes: [.retrying, .retrying, .stopped(.deadlineExceeded)]),
      (own: 5, call: 60, outcomes: [.retrying, .retrying, .stopped(.deadlineExceeded)]),
      (own: 60, call: 5, outcomes: [.retrying, .stopped(.deadlineExceeded)]),
      (own: 60, call: 4, outcomes: [.stopped(.deadlineExceeded)]),
      (own: nil, call: 60, outcomes: [.retrying, .retrying, .retrying]),
    ] as [(own: Int?, call: Int, outcomes: [RetryEvent.Outcome])]
  )
  func callDeadline(own: Int?, call: Int, outcomes: [RetryEvent.Outcome]) {
    let scheduler = TestScheduler.current
    let deadline = Deadline(in: .seconds(call), on: scheduler.time)
    // The call is a second older than what retries.
    scheduler.advance(by: 1)
    let policy = Policy(clamping: nil, backoff: .constant(.seconds(3)), deadline: own.map { .seconds($0) })
    var machine = RetryMachine(policy.within(deadline).onEvent(log.write))
    for second in 0..<3 {
      let action = machine.failed(with: .numbered(second), elapsed: .seconds(second))
      guard case .retry = action else { break }
      scheduler.advance(by: 1)
    }
    expectEqual(log.outcomes, outcomes)
  }

  @Test("keeps the nearest of several deadlines, in whichever order they came", arguments: [[2, 9], [9, 2], [2, 2]])
  func severalDeadlines(limits: [Int]) {
    let scheduler = TestScheduler.current
    let time = scheduler.time
    let policy = limits.reduce(Policy(clamping: nil, backoff: .constant(.seconds(2)))) { policy, limit in
      policy.within(Deadline(in: .seconds(limit), on: time))
    }
    expectEqual(run(policy, failures: [.numbered(1)]), .numbered(1))
  }

  @Test("measures a hint, a decided delay and an open breaker against the call's deadline")
  func callDeadlineOverAll() {
    let scheduler = TestScheduler.current
    let deadline = Deadline(in: .seconds(10), on: scheduler.time)
    let policy = Policy(clamping: nil, backoff: .immediate).within(deadline)
    expectEqual(run(policy, failures: [.busy(.seconds(10))]), .busy(.seconds(10)))
    expectEqual(run(policy.deciding { _, _ in .retry(after: .seconds(10)) }, failures: [.transient]), .transient)
    expectEqual(log.outcomes, [.stopped(.deadlineExceeded), .stopped(.deadlineExceeded)])

    let outcome = { (own: Duration?, retryAfter: Duration) -> RetryEvent.Outcome? in
      let log = RetryLog()
      let open = CircuitOpen(name: "weather", retryAfter: retryAfter)
      var machine = RetryMachine(
        RetryPolicy<any Error>(clamping: nil, backoff: .immediate, deadline: own).within(deadline).onEvent(log.write)
      )
      _ = machine.failed(with: open, elapsed: .zero)
      return log.outcomes.first
    }
    expectEqual(outcome(.seconds(60), .seconds(9)), .retrying)
    expectEqual(outcome(.seconds(60), .seconds(10)), .stopped(.circuitOpen))
    // That the call may take so long does not mean that the policy is to wait for a breaker.
    expectEqual(outcome(nil, .seconds(1)), .stopped(.circuitOpen))
  }

  @Test("asks in order: condition, decision, retries, deadline, hint")
  func order() {
    let strict = Policy(clamping: 0, maxHint: .seconds(1), deadline: .nanoseconds(1))
    let all = TestFailure.busy(.seconds(2))
    let reason = { (policy: Policy) -> RetryEvent.Outcome? in
      let log = RetryLog()
      var machine = RetryMachine(policy.onEvent(log.write))
      _ = machine.failed(with: all, elapsed: .seconds(1))
      return log.outcomes.first
    }
    let stopping = strict.deciding { _, _ in .stop }
    expectEqual(reason(stopping.when { _ in false }), .stopped(.notRetryable))
    let refusing = stopping.when { _ in false }.refusing { _ in .notReplayable }
    expectEqual(reason(refusing), .stopped(.notReplayable))
    expectEqual(reason(stopping), .stopped(.decided))
    expectEqual(reason(strict), .stopped(.attemptsExhausted))
    expectEqual(
      reason(Policy(clamping: 1, maxHint: .seconds(1), deadline: .nanoseconds(1))),
      .stopped(.deadlineExceeded)
    )
    expectEqual(reason(Policy(clamping: 1, maxHint: .seconds(1), deadline: .seconds(9))), .stopped(.hintTooLong))
  }

  @Test("makes equal event logs from equal policies and seeds")
  func reproducible() {
    let lines = { () -> [String] in
      let log = RetryLog()
      var machine = RetryMachine(Policy(clamping: 20, random: .seeded(3)).onEvent(log.write))
      for second in 0..<20 { _ = machine.failed(with: .numbered(second), elapsed: .seconds(second)) }
      return log.events.map(\.description)
    }
    expectEqual(lines(), lines())
    expectEqual(Set(lines()).count, 20)
  }
}
