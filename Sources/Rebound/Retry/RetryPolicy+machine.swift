extension RetryPolicy: Policy {
  /// The attempts of one execution.
  public struct Machine: PolicyMachine {
    @usableFromInline let storage: Storage
    @usableFromInline let call: RetryCall?
    /// Made at the first failure, unless a budget has to hear of the beginning.
    @usableFromInline var history: RetryHistory<Failure>?
    /// When it began, where that matters to what comes of a failure.
    @usableFromInline var start: Duration?

    @inlinable
    init(_ policy: RetryPolicy) {
      (storage, call) = (policy.storage, policy.call)
    }

    /// Lets the attempt begin, and tells the budget of a retry.
    @inlinable
    public mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      if let history {
        // Without a budget there is nobody to tell.
        if storage.hasBudget { history.retryBegins(execution) }
      } else if storage.hasBudget {
        history = makeHistory(execution.now)
      } else if start == nil, storage.hasBeginning || call != nil || execution.isListened {
        start = execution.now
      }
      return .proceed
    }

    /// Tells the budget.
    @inlinable
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<Failure> {
      history?.end(succeeded: true, execution)
      return .proceed
    }

    @_specialize(where Failure == any Error)
    @usableFromInline
    func makeHistory(_ start: Duration) -> RetryHistory<Failure> {
      RetryHistory(RetryPolicy(storage, call: call), start: start)
    }

    /// Asks the policy.
    @_specialize(where Failure == any Error)
    public mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> {
      let now = execution.now
      let history = history ?? makeHistory(start ?? now)
      self.history = history
      return history.failed(with: error, at: now, execution)
    }

    /// Takes the answer of the budget, if that is what it waits for.
    public mutating func woken(_ execution: ExecutionContext) -> Decision<Failure> {
      if let decision = history?.woken(execution) { return decision }
      return begins(execution)
    }

    /// Gives back what was granted, or tells the budget of a success, if an attempt ran and a value came.
    @inlinable
    public mutating func cancelled(_ execution: ExecutionContext) {
      history?.cancelled(execution)
    }

    /// As the policy answers duplicates.
    @inlinable
    public var skipsDelivered: Bool { storage.skipsDelivered }
  }

  /// Makes the machine of one execution.
  @inlinable
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(self) }
}

/// What one execution knows of its failures; used by one thread at a time, as the machine is that has it.
///
/// An object, made at the first failure: as a part of the machine it saved that one, and made a call that does not fail two
/// fifths longer, and a subscription an object more, whose machine no longer fitted into its own.
@usableFromInline
final class RetryHistory<Failure: Error> {
  @exclusivity(unchecked) var machine: RetryMachine<Failure>
  private let start: Duration
  /// Not while it waits to try again; kept where a budget has to hear of it.
  private var attemptRuns = true
  /// What comes of asking the budget.
  private var waiter: AnswerWaiter<RetryBudget.Retry?>?

  init(_ policy: RetryPolicy<Failure>, start: Duration) {
    self.start = start
    machine = RetryMachine(policy, now: start)
  }

  func failed(with error: Failure, at now: Duration, _ execution: ExecutionContext) -> Decision<Failure> {
    var deadline = execution.deadline
    if let own = machine.callDeadline { deadline = own.nearer(deadline) }
    attemptRuns = false
    let action = machine.failed(
      with: error,
      elapsed: now - start,
      now: now,
      left: deadline?.remaining(at: now, on: execution.time),
      delivered: execution.delivered,
      telling: teller(execution)
    )
    return decision(action, at: now, execution)
  }

  /// Tells the budget of the retry that it has granted.
  @usableFromInline
  func retryBegins(_ execution: ExecutionContext) {
    attemptRuns = true
    if machine.hasGrant { machine.retryBegins(now: execution.now) }
  }

  /// The budget has answered, if that is what it waits for.
  func woken(_ execution: ExecutionContext) -> Decision<Failure>? {
    waiter.map { decision(on: $0, at: nil, execution) }
  }

  private func decision(
    on waiter: AnswerWaiter<RetryBudget.Retry?>,
    at now: Duration?,
    _ execution: ExecutionContext
  ) -> Decision<Failure> {
    guard let answer = waiter.take() else { return .park(waiter.wait) }
    self.waiter = nil
    guard let action = machine.answered(answer, telling: teller(execution)) else { return .proceed }
    return decision(action, at: now ?? execution.now, execution)
  }

  private func teller(_ execution: ExecutionContext) -> (@Sendable (RetryEvent) -> Void)? {
    execution.isListened ? execution.surroundings.teller(of: RetryEvent.self) : nil
  }

  private func decision(
    _ action: RetryMachine<Failure>.Action,
    at now: Duration,
    _ execution: ExecutionContext
  ) -> Decision<Failure> {
    switch action {
    case .retry(let delay): return .wait(delay)
    case .ask:
      let waiter = AnswerWaiter<RetryBudget.Retry?>()
      self.waiter = waiter
      // Nobody may wait any more: what is granted and forgotten is given back.
      machine.ask(at: now) { _ = waiter.answer($0) }
      return decision(on: waiter, at: now, execution)
    case .stop(let final):
      machine.end(succeeded: false, now: now)
      return .fail(final)
    }
  }

  /// Whoever takes the first value and leaves has been answered; what came before a failure is no answer.
  @usableFromInline
  func cancelled(_ execution: ExecutionContext) {
    end(succeeded: attemptRuns && execution.delivered > 0, execution)
  }

  @_specialize(where Failure == any Error)
  @usableFromInline
  func end(succeeded: Bool, _ execution: ExecutionContext) {
    _ = waiter?.abandon()
    waiter = nil
    machine.end(succeeded: succeeded, now: machine.hasGrant ? execution.now : .zero)
  }
}
