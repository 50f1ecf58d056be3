/// Decides which attempts of one execution begin, and how it ends.
///
/// It has no clock, no lock and no stream; its owner tells it what happens, one event after the other, and the present, which is
/// read once for an event or, where nothing is decided by it, not at all. It calls the policy's closures, so it must not be asked
/// under a lock.
@usableFromInline
package struct HedgeMachine<Failure: Error>: Sendable {
  /// An attempt that is to begin now.
  @usableFromInline
  package struct Launch: Sendable {
    @usableFromInline package let hedge: Int
    /// Stands for it in the budget; given back if it is forgotten.
    fileprivate let grant: RetryBudget.Retry?
    fileprivate let moment: Duration

    /// Tells the budget that it begins.
    @usableFromInline
    package func begin() { grant?.begin(at: moment) }
  }

  /// What to do now.
  @usableFromInline
  package struct Step: Sendable {
    @usableFromInline package var launches: [Launch] = []
    /// With what to end; all attempts are to be cancelled.
    @usableFromInline package var failure: Failure?
  }

  /// An attempt that runs.
  private struct Attempt {
    let hedge: Int
    let start: Duration
    let grant: RetryBudget.Retry?
  }

  private let policy: HedgePolicy<Failure>
  private var start = Duration.zero
  /// Since when somebody waits, where nobody did at first; what an attempt takes counts from there.
  private var awaitedSince: Duration?
  /// The primary attempt, which needs no array, and the hedges.
  private var primaryRuns = false
  private var hedges: [Attempt] = []
  private var failures: [(hedge: Int, error: Failure)] = []
  private var launched = 0
  private var mayHedge = true
  private var isAwaited = true
  private var isWatching = false
  private var isOver = false
  /// The delay of the hedge that is next.
  private var delay = Duration.zero
  /// When the next hedge begins if nothing happens; `nil` if it would only after a failure.
  @usableFromInline package private(set) var due: Duration?

  @usableFromInline
  package init(_ policy: HedgePolicy<Failure>) {
    self.policy = policy
  }

  /// The execution begins, with the primary attempt.
  ///
  /// - Parameter isAwaited: Whether somebody waits for it from the start, and not only once it is watched.
  @usableFromInline
  package mutating func begin(isAwaited: Bool = true, now: @autoclosure () -> Duration) {
    self.isAwaited = isAwaited
    if policy.budget != nil || isTimed {
      start = now()
      policy.budget?.begin(at: start)
    }
    primaryRuns = true
    launched = 1
  }

  /// Whether anybody is told how long something took.
  private var isTimed: Bool { policy.observer != nil || policy.delay.recorder != nil }

  /// From here on an attempt that does not answer is slow; before, nobody was waiting.
  @usableFromInline
  package mutating func watch(now: @autoclosure () -> Duration) -> Step {
    var step = Step()
    guard !isWatching, !isOver else { return step }
    isWatching = true
    let isLate = !isAwaited && policy.delay.recorder != nil
    guard canHedge || isLate else { return step }
    let now = now()
    if isLate { awaitedSince = now }
    if canHedge { waitForNext(now: now, &step) }
    return step
  }

  /// The time has come to see whether a hedge is due.
  @usableFromInline
  package mutating func timeHasCome(now: @autoclosure () -> Duration) -> Step {
    var step = Step()
    guard let due, !isOver else { return step }
    let now = now()
    guard now >= due else { return step }
    launch(because: .delay(delay), now: now, &step)
    waitForNext(now: now, &step)
    return step
  }

  /// An attempt has failed.
  @usableFromInline
  package mutating func failed(_ hedge: Int, with error: Failure, now: @autoclosure () -> Duration) -> Step {
    var step = Step()
    guard !isOver, remove(hedge) != nil else { return step }
    let now = now()
    guard policy.condition(error) else {
      policy.observer?(.failed(hedge: hedge, error: error, isFatal: true, elapsed: now - start))
      end()
      step.failure = error
      return step
    }
    policy.budget?.fail()
    policy.observer?(.failed(hedge: hedge, error: error, isFatal: false, elapsed: now - start))
    failures.append((hedge, error))
    if let pause = policy.hint(error), canHedge {
      mayHedge = false
      due = nil
      policy.observer?(.refused(.hint(pause), elapsed: now - start))
    }
    if canHedge {
      launch(because: .failure, now: now, &step)
      waitForNext(now: now, &step)
    }
    if !primaryRuns, hedges.isEmpty { step.failure = exhausted(error, now: now) }
    return step
  }

  /// An attempt has succeeded, the first one to do so.
  @usableFromInline
  package mutating func won(_ hedge: Int, now: @autoclosure () -> Duration) {
    guard !isOver, let winner = remove(hedge) else { return }
    if isTimed { tellWin(of: winner, now: now()) }
    policy.budget?.succeed(after: winner.grant)
    end()
  }

  private func tellWin(of winner: Attempt, now: Duration) {
    policy.observer?(
      .won(hedge: winner.hedge, cancelled: (primaryRuns ? [0] : []) + hedges.map(\.hedge), elapsed: now - start)
    )
    guard let recorder = policy.delay.recorder else { return }
    func record(from start: Duration) { recorder.record(now - max(start, awaitedSince ?? start)) }
    record(from: winner.start)
    if primaryRuns { record(from: start) }
    for loser in hedges { record(from: loser.start) }
  }

  private mutating func remove(_ hedge: Int) -> Attempt? {
    if hedge == 0, primaryRuns {
      primaryRuns = false
      return Attempt(hedge: 0, start: start, grant: nil)
    }
    return hedges.firstIndex { $0.hedge == hedge }.map { hedges.remove(at: $0) }
  }

  /// The execution is cancelled.
  @usableFromInline
  package mutating func cancel() {
    end()
  }

  private var canHedge: Bool { mayHedge && launched <= policy.maxHedges }

  private mutating func end() {
    isOver = true
    due = nil
    primaryRuns = false
    hedges = []
  }

  /// Sets the time of the next hedge, or begins all that have no delay.
  private mutating func waitForNext(now: Duration, _ step: inout Step) {
    due = nil
    while isWatching, canHedge, let delay = policy.delay.delay(of: launched) {
      guard delay == .zero else {
        self.delay = delay
        due = now + delay
        return
      }
      launch(because: .parallel, now: now, &step)
    }
  }

  private mutating func launch(because reason: HedgeEvent.Reason, now: Duration, _ step: inout Step) {
    let hedge = launched
    var grant: RetryBudget.Retry?
    if let budget = policy.budget {
      grant = budget.grant(at: now)
      if grant == nil {
        mayHedge = false
        policy.observer?(.refused(.budgetExhausted, elapsed: now - start))
        return
      }
    }
    launched += 1
    hedges.append(Attempt(hedge: hedge, start: now, grant: grant))
    policy.observer?(.begins(hedge: hedge, because: reason, elapsed: now - start))
    step.launches.append(Launch(hedge: hedge, grant: grant, moment: now))
  }

  private mutating func exhausted(_ last: Failure, now: Duration) -> Failure {
    policy.observer?(.exhausted(attempts: failures.count, elapsed: now - start))
    end()
    // The primary attempt was the first to begin, so with none running it has failed.
    let primary = failures.first { $0.hedge == 0 }?.error ?? last
    guard let exhaustion = policy.exhaustion else { return primary }
    return exhaustion(HedgesFailed(errors: failures, underlying: primary))
  }
}
