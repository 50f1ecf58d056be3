/// Decides which attempts of one execution begin, and how it ends.
///
/// It has no clock, no lock and no stream; its owner tells it the time, one event after the other. It calls the policy's
/// closures, so it must not be asked under a lock.
package struct HedgeMachine<Failure: Error>: Sendable {
  /// An attempt that is to begin now.
  package struct Launch: Sendable {
    package let hedge: Int
    /// Stands for it in the budget; given back if it is forgotten.
    package let grant: RetryBudget.Retry?
  }

  /// What to do now.
  package struct Step: Sendable {
    package var launches: [Launch] = []
    /// With what to end; all attempts are to be cancelled.
    package var failure: Failure?
  }

  private let policy: HedgePolicy<Failure>
  /// Since when the attempts run that do.
  private var running: [Int: Duration] = [:]
  private var failures: [(hedge: Int, error: Failure)] = []
  private var grants: [Int: RetryBudget.Retry] = [:]
  private var launched = 0
  private var mayHedge = true
  private var isWatching = false
  private var isOver = false
  /// The delay of the hedge that is next.
  private var delay = Duration.zero
  /// When the next hedge begins if nothing happens; `nil` if it would only after a failure.
  package private(set) var due: Duration?

  package init(_ policy: HedgePolicy<Failure>) {
    self.policy = policy
  }

  /// The execution begins, with the primary attempt.
  package mutating func begin(now: Duration) -> Step {
    policy.budget?.begin()
    running[0] = now
    launched = 1
    return Step(launches: [Launch(hedge: 0, grant: nil)])
  }

  /// From here on an attempt that does not answer is slow; before, nobody was waiting.
  package mutating func watch(now: Duration) -> Step {
    var step = Step()
    guard !isWatching, !isOver else { return step }
    isWatching = true
    waitForNext(now: now, &step)
    return step
  }

  /// The time has come to see whether a hedge is due.
  package mutating func timeHasCome(now: Duration) -> Step {
    var step = Step()
    guard let due, now >= due, !isOver else { return step }
    launch(because: .delay(delay), now: now, &step)
    waitForNext(now: now, &step)
    return step
  }

  /// An attempt has failed.
  package mutating func failed(_ hedge: Int, with error: Failure, now: Duration) -> Step {
    var step = Step()
    guard !isOver, running.removeValue(forKey: hedge) != nil else { return step }
    guard policy.condition(error) else {
      policy.observer?(.failed(hedge: hedge, error: error, isFatal: true, elapsed: now))
      end()
      step.failure = error
      return step
    }
    policy.budget?.fail()
    policy.observer?(.failed(hedge: hedge, error: error, isFatal: false, elapsed: now))
    failures.append((hedge, error))
    if let pause = policy.hint(error), canHedge {
      mayHedge = false
      due = nil
      policy.observer?(.refused(.hint(pause), elapsed: now))
    }
    if canHedge {
      launch(because: .failure, now: now, &step)
      waitForNext(now: now, &step)
    }
    if running.isEmpty { step.failure = exhausted(error, now: now) }
    return step
  }

  /// An attempt has succeeded, the first one to do so.
  package mutating func won(_ hedge: Int, now: Duration) {
    guard !isOver, let start = running.removeValue(forKey: hedge) else { return }
    policy.observer?(.won(hedge: hedge, cancelled: running.keys.sorted(), elapsed: now))
    if let recorder = policy.delay.recorder {
      recorder.record(now - start)
      for start in running.values { recorder.record(now - start) }
    }
    policy.budget?.succeed(after: grants[hedge])
    end()
  }

  /// The execution is cancelled.
  package mutating func cancel() {
    end()
  }

  private var canHedge: Bool { mayHedge && launched <= policy.maxHedges }

  private mutating func end() {
    isOver = true
    due = nil
    running = [:]
    grants = [:]
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
    if let budget = policy.budget {
      guard let grant = budget.grant() else {
        mayHedge = false
        policy.observer?(.refused(.budgetExhausted, elapsed: now))
        return
      }
      grants[hedge] = grant
    }
    launched += 1
    running[hedge] = now
    policy.observer?(.begins(hedge: hedge, because: reason, elapsed: now))
    step.launches.append(Launch(hedge: hedge, grant: grants[hedge]))
  }

  private mutating func exhausted(_ last: Failure, now: Duration) -> Failure {
    policy.observer?(.exhausted(attempts: failures.count, elapsed: now))
    end()
    // The primary attempt was the first to begin, so with none running it has failed.
    let primary = failures.first { $0.hedge == 0 }?.error ?? last
    guard let exhaustion = policy.exhaustion else { return primary }
    return exhaustion(HedgesFailed(errors: failures, underlying: primary))
  }
}
