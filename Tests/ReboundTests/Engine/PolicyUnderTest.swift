import Combine
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// A policy that keeps the contract of the two drivers: one row of the table.
struct PolicyUnderTest: Sendable, CustomTestStringConvertible {
  /// When an execution waits.
  enum Wait { case never, beforeTheFirst, afterAnEnd }

  /// How an execution goes.
  enum Course: CaseIterable {
    /// Its first attempt ends with what passes.
    case passing
    /// Each attempt ends with what it answers with another one, until there is none.
    case again
    /// It waits once, and then its attempt ends with what passes.
    case waiting
    /// It is cancelled while its attempt runs.
    case cancelled
  }

  /// What may follow each other without end, and so must not stand on each other on the stack.
  enum Chain: Sendable {
    /// Attempts of one execution: makes a policy that tries again so many times, at once.
    case attempts(@Sendable (Int) throws -> PolicySubject)
    /// Executions, so many of which wait when they are let go on.
    case executions(@Sendable (TestScheduler, Int) throws -> PolicySubject)
    /// Nothing: an execution is one attempt, and waits for no other.
    case nothing
  }

  /// The types of the sources that it stands for.
  let types: Set<String>
  let wait: Wait
  /// Whether it tries again after a failure, or after a finish.
  var triesAgainAfterFailure = false
  var triesAgainAfterFinish = false
  /// How many attempts an execution has that all end with ``again``.
  var attempts = 1
  /// How often the time is read in an execution; for a publisher, and for a function unless that has another number.
  let reads: [Course: Int]
  var functionReads: [Course: Int] = [:]
  /// How often it is read at most by whoever lets go on an execution that waits, in its name.
  var readsOfOthers = 0
  let chain: Chain
  let make: @Sendable (TestScheduler) throws -> PolicySubject

  var testDescription: String { "\(types.sorted().joined(separator: ", ")), waits: \(wait)" }
  var triesAgain: Bool { triesAgainAfterFailure || triesAgainAfterFinish }

  /// An end that it passes on.
  var passing: Subscribers.Completion<any Error> { triesAgainAfterFinish ? .failure(TestFailure.permanent) : .finished }
  /// An end that it answers with another attempt.
  var again: Subscribers.Completion<any Error> { triesAgainAfterFinish ? .finished : .failure(TestFailure.transient) }
}

/// A policy with all that it shares, fresh for one test.
///
/// Unchecked, because a test uses it on one thread at a time, or through its locked parts.
final class PolicySubject: @unchecked Sendable {
  typealias Upstream = AnyPublisher<Int, any Error>
  typealias Operation = @Sendable () async throws -> Int

  let log = MachineLog()
  let protect: (Upstream, TimeSource) -> Upstream
  let run: @Sendable (TimeSource, @escaping Operation) async throws -> Int
  /// The elements of a sequence under it.
  let iterate: (MadeSequence<Int>, TimeSource) -> PolicySequence<Int>
  /// A pipeline of it alone, whose decisions are told.
  let pipeline: (TimeSource, PolicyEvents) throws -> Pipeline<Int>
  /// Makes the next execution wait, where it waits before its first attempt.
  var block: () throws -> Void = {}
  /// Lets go on whoever waits.
  var release: () -> Void = {}
  /// Whether somebody waits.
  var isWaiting: () -> Bool = { false }
  /// Whether all that was granted is back.
  var isIdle: () -> Bool = { true }

  init<Applied: Policy>(
    _ policy: Applied,
    running run: (@Sendable (TimeSource, @escaping Operation) async throws -> Int)? = nil
  ) where Applied.Failure == any Error {
    let log = log
    let watched = WatchedPolicy(base: policy, log: log)
    protect = { upstream, time in
      Publishers.WithPolicy(upstream: upstream, policy: watched, time: log.counting(time)).eraseToAnyPublisher()
    }
    iterate = { sequence, time in sequence.protected(by: watched, time: log.counting(time)) }
    pipeline = { time, events in try Pipeline("service", events: events, time: log.counting(time)) { watched } }
    // That of a timed policy has another driver.
    let runs = run ?? { time, operation in try await watched.run(time: time) { try await operation() } }
    self.run = { time, operation in try await runs(log.counting(time), operation) }
  }
}

/// What the machines of a policy were told.
final class MachineLog: Sendable {
  struct Counts: Equatable {
    var begun = 0
    var ended = 0
    var cancelled = 0
    /// Told something while told something else.
    var overlaps = 0
  }

  private let state = Locked((counts: Counts(), inside: Set<Int>()))
  private struct Readings {
    var byThread: [ObjectIdentifier: Int] = [:]
    var timers = 0
    var mostInADecision = 0
    /// How many were read for decisions.
    var inDecisions = 0
  }

  private let reading = Locked(Readings())

  var counts: Counts { state.withLock { $0.counts } }

  /// How often the time was read, by machines and by drivers.
  var reads: Int { reading.withLock { $0.byThread.values.reduce(0, +) } }
  /// How often it was read for one decision at most.
  var mostReadsInADecision: Int { reading.withLock { $0.mostInADecision } }

  /// How often it was read by the drivers, between two decisions.
  var readsBetween: Int { reading.withLock { $0.byThread.values.reduce(0, +) - $0.inDecisions } }
  /// How many timers were set.
  var timers: Int { reading.withLock { $0.timers } }

  /// A time whose readings are counted.
  fileprivate func counting(_ time: TimeSource) -> TimeSource {
    TimeSource(
      now: { [self] in
        reading.withLock { $0.byThread[Self.thread, default: 0] += 1 }
        return time.now
      },
      after: { [self] in
        reading.withLock { $0.timers += 1 }
        return time.after($0, $1)
      }
    )
  }

  private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

  /// Counts what is read while a machine decides: by its thread, since another may read for something else meanwhile.
  fileprivate func deciding<Result>(_ decide: () -> Result) -> Result {
    let readsBefore = reading.withLock { $0.byThread[Self.thread, default: 0] }
    let result = decide()
    reading.withLock {
      let reads = $0.byThread[Self.thread, default: 0] - readsBefore
      $0.mostInADecision = max($0.mostInADecision, reads)
      $0.inDecisions += reads
    }
    return result
  }

  fileprivate func begin() -> Int {
    state.withLock {
      $0.counts.begun += 1
      return $0.counts.begun
    }
  }

  fileprivate func enter(_ number: Int) {
    state.withLock { if !$0.inside.insert(number).inserted { $0.counts.overlaps += 1 } }
  }

  fileprivate func leave(_ number: Int, hasEnded: Bool, isCancelled: Bool = false) {
    state.withLock {
      $0.inside.remove(number)
      if hasEnded { $0.counts.ended += 1 }
      if isCancelled { $0.counts.cancelled += 1 }
    }
  }
}

/// A policy that writes down how its machines end.
private struct WatchedPolicy<Base: Policy>: Policy where Base.Failure == any Error {
  let base: Base
  let log: MachineLog

  var descriptor: StageDescriptor { base.descriptor }
  var traits: StageTraits { base.traits }

  func makeMachine(_ execution: ExecutionContext) -> Machine {
    Machine(base: base.makeMachine(execution), log: log, number: log.begin())
  }

  func register(with events: PolicyEvents?, pipeline: String) { base.register(with: events, pipeline: pipeline) }

  /// By the driver of the policy itself, which may be another than that of its watch.
  nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == any Error {
    try await base.execute(execution, call)
  }

  struct Machine: PolicyMachine {
    typealias Failure = any Error

    var base: Base.Machine
    let log: MachineLog
    let number: Int

    private mutating func ask(
      endsByProceeding: Bool = false,
      _ question: (inout Base.Machine) -> Decision<any Error>
    ) -> Decision<any Error> {
      log.enter(number)
      let decision = log.deciding { question(&base) }
      let hasEnded =
        switch decision {
        case .proceed: endsByProceeding
        case .wait, .park: false
        case .finish, .fail, .refuse: true
        }
      log.leave(number, hasEnded: hasEnded)
      return decision
    }

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> { ask { $0.begins(execution) } }
    mutating func woken(_ execution: ExecutionContext) -> Decision<any Error> { ask { $0.woken(execution) } }
    mutating func timerFired(_ execution: ExecutionContext) -> Decision<any Error> { ask { $0.timerFired(execution) } }

    mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      ask(endsByProceeding: true) { $0.succeeded(execution) }
    }

    mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
      ask(endsByProceeding: true) { $0.failed(with: error, execution) }
    }

    mutating func cancelled(_ execution: ExecutionContext) {
      log.enter(number)
      log.deciding { base.cancelled(execution) }
      log.leave(number, hasEnded: true, isCancelled: true)
    }

    mutating func valuesCame(_ execution: ExecutionContext) {
      log.enter(number)
      log.deciding { base.valuesCame(execution) }
      log.leave(number, hasEnded: false)
    }

    var observesValues: Bool { base.observesValues }
    var skipsDelivered: Bool { base.skipsDelivered }
    var deadline: Deadline? { base.deadline }
    var wakeTime: Duration? { base.wakeTime }
    static var isTimed: Bool { Base.Machine.isTimed }
  }
}

/// A policy of a user's own, as the documentation of ``Policy`` has it: it waits once.
struct PauseBefore: Policy {
  let pause: Duration
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("pause")) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(pause: pause) }

  struct Machine: PolicyMachine {
    var pause: Duration?

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      defer { pause = nil }
      return pause.map { .wait($0) } ?? .proceed
    }
  }
}

/// A control of a user's own that lets in whoever comes, and counts who is inside.
final class CountingDoor: AdmissionControl, Policy {
  struct Grant: Sendable {}

  let inside = Locked(0)
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("door")) }

  func ask(
    _ execution: ExecutionContext,
    _ answer: @escaping @Sendable (Result<Grant, any Error>) -> Void
  ) -> (any Cancellable)? {
    inside.withLock { $0 += 1 }
    answer(.success(Grant()))
    return nil
  }

  func settle(_ grant: Grant, _ end: ExecutionEnd, _ execution: ExecutionContext) { inside.withLock { $0 -= 1 } }
}

// MARK: - The table

extension PolicyUnderTest {
  static let all = [
    retry, retryWithinBudget, retryStage, repetition, translated, timeout, timeoutStage, breaker, streamBreaker,
    bulkhead, prioritised, adaptive, admission,
    limiter, throttle, detector, detectorsRequests, authentication, refusedCredential, retryOn, retryWhen, pause,
    stopwatch,
  ]

  /// Why a type of the sources stands for nothing here.
  static let exempt = [
    "BalancedAttempt": "internal; lets everything pass, and the tests of load balancers show what it tells them",
    "ChaosDelay": "internal; only waits before the first attempt, as PauseBefore does",
    "HalfOpening": "private; waits once before the first attempt, and never fails",
  ]

  /// Types of other modules, and the file in Tests where they keep the contract.
  static let elsewhere = [
    "FleetBulkhead": "ReboundRedisTests/Fleet/FleetContractTests.swift",
    "FleetRateLimiter": "ReboundRedisTests/Fleet/FleetContractTests.swift",
  ]

  private static let never: [Course: Int] = [.passing: 0, .again: 0, .waiting: 0, .cancelled: 0]

  private static func waiting(on scheduler: TestScheduler, _ subject: PolicySubject) -> PolicySubject {
    subject.release = { scheduler.advance(by: .seconds(1)) }
    subject.isWaiting = { scheduler.pendingCount > 0 }
    return subject
  }

  private static func retrying(_ times: Int, after pause: Duration) -> RetryPolicy<any Error> {
    RetryPolicy(clamping: times, backoff: .constant(pause))
  }

  // A failure is told with the moment at which it came.
  static let retry = PolicyUnderTest(
    types: ["RetryPolicy"],
    wait: .afterAnEnd,
    triesAgainAfterFailure: true,
    attempts: 3,
    reads: [.passing: 0, .again: 3, .waiting: 1, .cancelled: 0],
    chain: .attempts { PolicySubject(retrying($0, after: .zero)) }
  ) { waiting(on: $0, PolicySubject(retrying(2, after: .seconds(1)))) }

  // The budget is told of each call, of a retry that begins, and of its success.
  static let retryWithinBudget = PolicyUnderTest(
    types: ["RetryPolicy"],
    wait: .afterAnEnd,
    triesAgainAfterFailure: true,
    attempts: 3,
    reads: [.passing: 1, .again: 6, .waiting: 4, .cancelled: 1],
    chain: .attempts { PolicySubject(retrying($0, after: .zero).within(try generous())) }
  ) { scheduler in
    let budget = try generous()
    let subject = waiting(on: scheduler, PolicySubject(retrying(2, after: .seconds(1)).within(budget)))
    subject.isIdle = { budget.snapshot(on: scheduler.time).queued == 0 }
    return subject
  }

  private static func generous() throws -> RetryBudget { try .ratio(1, floor: 100_000) }

  static let retryStage = PolicyUnderTest(
    types: ["Retry"],
    wait: .afterAnEnd,
    triesAgainAfterFailure: true,
    attempts: 3,
    reads: [.passing: 0, .again: 3, .waiting: 1, .cancelled: 0],
    chain: .attempts { PolicySubject(Retry(retrying($0, after: .zero))) }
  ) { waiting(on: $0, PolicySubject(Retry(retrying(2, after: .seconds(1))))) }

  private static let threeRuns = RepeatPolicy(clamping: 2, pause: .constant(.seconds(1)))

  static let repetition = PolicyUnderTest(
    types: ["RepeatPolicy"],
    wait: .afterAnEnd,
    triesAgainAfterFinish: true,
    attempts: 3,
    reads: never,
    chain: .attempts { PolicySubject(RepeatPolicy(clamping: $0)) }
  ) { waiting(on: $0, PolicySubject(threeRuns)) }

  static let translated = PolicyUnderTest(
    types: ["PolicyForFailure"],
    wait: .afterAnEnd,
    triesAgainAfterFinish: true,
    attempts: 3,
    reads: never,
    chain: .attempts { PolicySubject(PolicyForFailure<RepeatPolicy, any Error>(RepeatPolicy(clamping: $0))) }
  ) { waiting(on: $0, PolicySubject(PolicyForFailure<RepeatPolicy, any Error>(threeRuns))) }

  // One for the start. The timer is set for a moment; a source that is not the system's turns it into a delay, and reads its
  // time for that. A function that returns at once has no timer.
  private static let start: [Course: Int] = [.passing: 2, .again: 2, .waiting: 2, .cancelled: 2]
  private static let startOfFunction: [Course: Int] = [.passing: 1, .again: 1, .waiting: 1]

  static let timeout = PolicyUnderTest(
    types: ["TimeoutPolicy"],
    wait: .never,
    reads: start,
    functionReads: startOfFunction,
    chain: .nothing
  ) { _ in
    let policy = TimeoutPolicy.total(.seconds(1_000))
    return PolicySubject(policy) { time, operation in try await policy.run(time: time) { try await operation() } }
  }

  static let timeoutStage = PolicyUnderTest(
    types: ["Timeout"],
    wait: .never,
    reads: start,
    functionReads: startOfFunction,
    chain: .nothing
  ) { _ in
    let policy = Timeout(total: .seconds(1_000))
    return PolicySubject(policy) { time, operation in
      try await policy.execute(ExecutionContext(time: time), ClosureCall { try await operation() })
    }
  }

  // While it is closed it only asks for the moment of a failure.
  static let breaker = PolicyUnderTest(
    types: ["CircuitBreaker"],
    wait: .never,
    reads: [.passing: 0, .again: 1, .waiting: 0, .cancelled: 1],
    chain: .nothing
  ) { scheduler in
    let breaker = try CircuitBreaker("service", policy: .consecutive(1, openFor: .seconds(1)))
    return halfOpening(breaker, scheduler, PolicySubject(breaker))
  }

  static let streamBreaker = PolicyUnderTest(
    types: ["CircuitBreakerForStreams"],
    wait: .never,
    reads: [.passing: 0, .again: 1, .waiting: 0, .cancelled: 1],
    chain: .nothing
  ) { scheduler in
    let breaker = try CircuitBreaker("service", policy: .consecutive(1, openFor: .seconds(1)))
    return halfOpening(breaker, scheduler, PolicySubject(breaker.succeeding(on: .firstValue)))
  }

  /// One probe at a time is let in: whoever does not give it back keeps all others out.
  private static func halfOpening(
    _ breaker: CircuitBreaker,
    _ scheduler: TestScheduler,
    _ subject: PolicySubject
  ) -> PolicySubject {
    subject.block = {
      try breaker.acquire(on: scheduler.time).fail(with: TestFailure.transient)
      scheduler.advance(by: .seconds(1))
    }
    subject.isIdle = {
      guard let call = try? breaker.acquire(on: scheduler.time) else { return false }
      call.cancel()
      return true
    }
    return subject
  }

  static let bulkhead = PolicyUnderTest(
    types: ["Bulkhead"],
    wait: .beforeTheFirst,
    reads: never,
    chain: .executions { scheduler, count in
      let bulkhead = Bulkhead("service", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: count))
      return holding(bulkhead, scheduler, PolicySubject(bulkhead))
    }
  ) { scheduler in
    let bulkhead = Bulkhead("service", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 9, maxWait: .seconds(60)))
    return holding(bulkhead, scheduler, PolicySubject(bulkhead))
  }

  static let prioritised = PolicyUnderTest(
    types: ["PrioritisedBulkhead"],
    wait: .beforeTheFirst,
    reads: never,
    chain: .executions { scheduler, count in
      let bulkhead = Bulkhead("service", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: count))
      return holding(bulkhead, scheduler, PolicySubject(bulkhead.prioritised(3)))
    }
  ) { scheduler in
    let bulkhead = Bulkhead("service", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 9))
    return holding(bulkhead, scheduler, PolicySubject(bulkhead.prioritised(3)))
  }

  // How long a call has taken says how many the service bears: one when it asks or is let in, and one when it has ended.
  static let adaptive = PolicyUnderTest(
    types: ["Bulkhead"],
    wait: .beforeTheFirst,
    reads: [.passing: 2, .again: 2, .waiting: 3, .cancelled: 2],
    readsOfOthers: 1,
    chain: .executions { scheduler, count in try adapting(scheduler, queue: count) }
  ) { try adapting($0, queue: 9) }

  private static func adapting(_ scheduler: TestScheduler, queue: Int) throws -> PolicySubject {
    let bulkhead = Bulkhead(
      "service",
      policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: queue),
      adapting: try .aimd(in: 1...1),
      overloadedWhen: { _ in true }
    )
    return holding(bulkhead, scheduler, PolicySubject(bulkhead))
  }

  /// A control of a user's own, which counts what it has granted.
  static let admission = PolicyUnderTest(types: [], wait: .never, reads: never, chain: .nothing) { _ in
    let door = CountingDoor()
    let subject = PolicySubject(door)
    subject.isIdle = { door.inside.withLock { $0 } == 0 }
    return subject
  }

  private static func holding(
    _ bulkhead: Bulkhead,
    _ scheduler: TestScheduler,
    _ subject: PolicySubject
  ) -> PolicySubject {
    let held = Locked<Bulkhead.Permit?>(nil)
    subject.block = {
      let permit = try bulkhead.acquire(on: scheduler.time)
      held.withLock { $0 = permit }
    }
    subject.release = {
      let permit = held.withLock { held in
        defer { held = nil }
        return held
      }
      permit?.release()
    }
    subject.isWaiting = { bulkhead.snapshot.queued > 0 }
    subject.isIdle = { bulkhead.snapshot.running == 0 && bulkhead.snapshot.queued == 0 }
    return subject
  }

  static let limiter = PolicyUnderTest(
    types: ["RateLimiter"],
    wait: .beforeTheFirst,
    reads: [.passing: 1, .again: 1, .waiting: 2, .cancelled: 1],
    chain: .executions { scheduler, count in
      let policy = try RateLimiterPolicy.tokenBucket(count, per: .seconds(1), burst: 1)
      return limiting(try policy.waiting(atMost: .seconds(60), maxQueue: count), scheduler)
    }
  ) { limiting(try .tokenBucket(1, per: .seconds(1)).waiting(atMost: .seconds(60)), $0) }

  private static func limiting(_ policy: RateLimiterPolicy, _ scheduler: TestScheduler) -> PolicySubject {
    let limiter = RateLimiter("service", policy: policy)
    let subject = waiting(on: scheduler, PolicySubject(limiter))
    subject.block = { try limiter.acquire(on: scheduler.time) }
    subject.isIdle = { limiter.snapshot.queued == 0 }
    return subject
  }

  // What has been counted moves on when a call begins, and the call is counted when it has ended.
  static let throttle = PolicyUnderTest(
    types: ["AdaptiveThrottle"],
    wait: .never,
    reads: [.passing: 2, .again: 2, .waiting: 2, .cancelled: 1],
    chain: .nothing
  ) { _ in
    // Who shares it shares what was counted: luck lets all of these calls through.
    PolicySubject(AdaptiveThrottle("service", random: RandomSource { 0.999 }))
  }

  // The attempt is counted when it begins, and again when it is answered.
  static let detector = PolicyUnderTest(
    types: ["MetastabilityDetector"],
    wait: .never,
    reads: [.passing: 2, .again: 1, .waiting: 2, .cancelled: 1],
    chain: .nothing
  ) { _ in PolicySubject(MetastabilityDetector("service")) }

  // What stands around the retry counts what is asked for.
  static let detectorsRequests = PolicyUnderTest(
    types: ["MetastabilityDetector.Requests"],
    wait: .never,
    reads: [.passing: 1, .again: 1, .waiting: 1, .cancelled: 1],
    chain: .nothing
  ) { _ in PolicySubject(MetastabilityDetector("service").requests) }

  // Nobody listens here, so nothing is measured.
  static let stopwatch = PolicyUnderTest(types: ["Stopwatch"], wait: .never, reads: never, chain: .nothing) { _ in
    PolicySubject(Stopwatch())
  }

  // One for each credential that is asked for, and one when another comes.
  static let authentication = PolicyUnderTest(
    types: ["Authentication", "AuthenticationPolicy"],
    wait: .beforeTheFirst,
    triesAgainAfterFailure: true,
    attempts: 2,
    reads: [.passing: 1, .again: 3, .waiting: 2, .cancelled: 1],
    readsOfOthers: 2,
    chain: .executions { scheduler, _ in authenticating(scheduler) },
    make: authenticating
  )

  /// The same, where the wait is for another credential in place of one that the server has refused.
  static let refusedCredential = PolicyUnderTest(
    types: ["Authentication", "AuthenticationPolicy"],
    wait: .afterAnEnd,
    triesAgainAfterFailure: true,
    attempts: 2,
    reads: [.passing: 1, .again: 3, .waiting: 3, .cancelled: 1],
    readsOfOthers: 2,
    chain: .executions { scheduler, _ in authenticating(scheduler) },
    make: authenticating
  )

  @Sendable private static func authenticating(_ scheduler: TestScheduler) -> PolicySubject {
    let renewal = TestPublisher<String, TestFailure>()
    let refresher = TokenRefresher<String>(
      lifetime: { _ in .seconds(100_000) },
      rejectedWhen: { $0 == .permanent },
      refreshingWith: { _ in renewal.eraseToAnyPublisher() }
    )
    refresher.signIn(with: "A", at: scheduler.elapsed)
    let subject = PolicySubject(Authentication(by: refresher) { $0 as? TestFailure == .transient })
    // The credential is too old, and the renewal takes its time.
    subject.block = { scheduler.advance(by: .seconds(200_000)) }
    subject.release = { if renewal.subscriptionCount > 0 { renewal.send("B") } }
    subject.isWaiting = { refresher.queued > 0 }
    subject.isIdle = { refresher.queued == 0 }
    return subject
  }

  static let retryOn = PolicyUnderTest(
    types: ["RetryOnPolicy"],
    wait: .afterAnEnd,
    triesAgainAfterFailure: true,
    attempts: 3,
    reads: never,
    chain: .attempts { times in
      let now = Just(1).setFailureType(to: (any Error).self)
      return PolicySubject(Empty<Int, any Error>().retry(on: { _ in true }, times: times, after: { _ in now }).policy)
    }
  ) { _ in
    let gate = TestPublisher<Int, any Error>()
    let policy = Empty<Int, any Error>().retry(on: { _ in true }, times: 2, after: { _ in gate }).policy
    return passing(gate, PolicySubject(policy))
  }

  static let retryWhen = PolicyUnderTest(
    types: ["RetryWhenPolicy"],
    wait: .afterAnEnd,
    triesAgainAfterFailure: true,
    attempts: .max,
    reads: never,
    chain: .attempts { _ in
      let made = Empty<Int, any Error>().retry { (errors: AnyPublisher<any Error, Never>) in
        errors.setFailureType(to: (any Error).self)
      }
      return PolicySubject(made.policy)
    }
  ) { _ in
    let gate = TestPublisher<Int, any Error>()
    let made = Empty<Int, any Error>().retry { (_: AnyPublisher<any Error, Never>) in gate }
    return passing(gate, PolicySubject(made.policy))
  }

  private static func passing(_ gate: TestPublisher<Int, any Error>, _ subject: PolicySubject) -> PolicySubject {
    subject.release = { for connection in gate.connections { connection.send(1) } }
    subject.isWaiting = { gate.subscriptionCount > 0 }
    subject.isIdle = { gate.connections.allSatisfy(\.isCancelled) }
    return subject
  }

  static let pause = PolicyUnderTest(
    types: [],
    wait: .beforeTheFirst,
    reads: never,
    chain: .executions { scheduler, _ in waiting(on: scheduler, PolicySubject(PauseBefore(pause: .seconds(1)))) }
  ) { waiting(on: $0, PolicySubject(PauseBefore(pause: .seconds(1)))) }
}
