import Combine
import StreamSupport

/// Stops calls to a service that fails, and lets a few through after a while to see whether it is well again.
///
///     let breaker = CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: 5))
///     request.protected(by: breaker)
///     let forecast = try await breaker.run { try await client.forecast(for: city) }
///
/// One breaker is shared by everything that calls the same service. The result of a call counts only in the state in
/// which the call was let through; a cancelled call has no vote; a probe that never ends is given up after the open time.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it.
public final class CircuitBreaker: @unchecked Sendable {
  /// What a breaker does with calls.
  public enum State: Hashable, Sendable {
    /// Lets all through, and counts.
    case closed
    /// Refuses all, until the open time is over.
    case open
    /// Lets a few probes through.
    case halfOpen
    /// Refuses all, because someone said so.
    case isolated
    /// Lets all through and does not count, because someone said so.
    case disabled
  }

  /// What the breaker protects, for its errors.
  public let name: String

  private let time: MonotonicTime
  private let isFailure: @Sendable (any Error) -> Bool
  private let states = CurrentValueSubject<State, Never>(.closed)

  private let lock = Lock()
  private var machine: CircuitBreakerMachine
  private var lastError: (any Error)?
  /// Changes that are not told yet, and whether some thread is telling them.
  private var untold: [State] = []
  private var isTelling = false

  /// Makes a closed breaker.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: When it opens, and what lets it close again.
  ///   - time: Measures windows, open times and leases.
  ///   - isFailure: Which errors speak against the service; the others have no vote, as cancels never do. A refusal of
  ///     the user's input should not open a breaker.
  public init(
    _ name: String,
    policy: CircuitBreakerPolicy,
    time: MonotonicTime = .continuous,
    countingAsFailure isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.name = name
    self.time = time
    self.isFailure = isFailure
    machine = CircuitBreakerMachine(policy)
  }

  /// What the breaker does with calls now; reading it changes nothing.
  public var state: State { lock.withLock { machine.state } }

  /// The state, and then each change of it, in order, on the thread of the call that caused it.
  public var stateChanges: AnyPublisher<State, Never> { states.removeDuplicates().eraseToAnyPublisher() }

  /// Closes, and forgets all calls.
  public func close() { change { machine, _ in machine.close() } }

  /// Lets nothing through until it is closed by hand.
  public func isolate() { change { machine, _ in machine.isolate() } }

  /// Lets everything through, and counts nothing, until it is closed by hand.
  public func disable() { change { machine, _ in machine.disable() } }

  /// Asks to let a call through.
  ///
  /// - Returns: The call, which is to be told how it ends.
  /// - Throws: ``CircuitOpen`` if it is refused. A refusal is never counted.
  public func admit() throws(CircuitOpen) -> Call {
    switch change({ machine, now in machine.admit(now: now) }) {
    case .granted(let permit): return Call(permit, of: self)
    case .rejected(let retryAfter):
      throw CircuitOpen(name: name, retryAfter: retryAfter, lastError: lock.withLock { lastError })
    }
  }

  /// Runs an asynchronous function, if the breaker lets it through.
  ///
  /// - Parameters:
  ///   - isolation: The caller's.
  ///   - operation: The call.
  /// - Throws: ``CircuitOpen`` if it is refused; otherwise what the function throws.
  public func run<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws -> Value
  ) async throws -> Value {
    let call = try admit()
    do {
      let value = try await operation()
      call.succeed()
      return value
    } catch {
      if Task.isCancelled { call.cancel() } else { call.fail(with: error) }
      throw error
    }
  }

  /// A call that was let through, and is to be told once how it ends.
  ///
  /// One that is forgotten counts as cancelled. Unchecked, because the lock guards its only state.
  public final class Call: @unchecked Sendable {
    private let breaker: CircuitBreaker
    private let lock = Lock()
    private var permit: CircuitBreakerMachine.Permit?

    fileprivate init(_ permit: CircuitBreakerMachine.Permit, of breaker: CircuitBreaker) {
      self.breaker = breaker
      self.permit = permit
    }

    deinit {
      cancel()
    }

    /// The service has answered.
    public func succeed() {
      settle(.success, nil)
    }

    /// The call has failed; whether that speaks against the service, the breaker knows.
    ///
    /// An error that asks for a pause (``RetryAfterProviding``) keeps the breaker open for that long at least.
    public func fail(with error: any Error) {
      guard !(error is CancellationError), breaker.isFailure(error) else { return settle(.ignored, nil) }
      settle(.failure(hint: (error as? any RetryAfterProviding)?.retryAfter), error)
    }

    /// The call was cancelled: no vote.
    public func cancel() {
      settle(.ignored, nil)
    }

    private func settle(_ outcome: CircuitBreakerMachine.Outcome, _ error: (any Error)?) {
      let permit = lock.withLock {
        let permit = self.permit
        self.permit = nil
        return permit
      }
      if let permit { breaker.settle(permit, outcome, error) }
    }
  }

  private func settle(
    _ permit: CircuitBreakerMachine.Permit,
    _ outcome: CircuitBreakerMachine.Outcome,
    _ error: (any Error)?
  ) {
    if let error {
      let before = lock.withLock {
        let before = lastError
        lastError = error
        return before
      }
      withExtendedLifetime(before) {}
    }
    change { machine, now in machine.settle(permit, outcome, now: now) }
  }

  /// Changes the machine, then tells the observers, one change after the other whichever threads they come from.
  private func change<Result>(_ body: (inout CircuitBreakerMachine, Duration) -> Result) -> Result {
    let now = time.now
    let (result, tells) = lock.withLock {
      let before = machine.state
      let result = body(&machine, now)
      if machine.state != before { untold.append(machine.state) }
      let tells = !untold.isEmpty && !isTelling
      if tells { isTelling = true }
      return (result, tells)
    }
    if tells { tell() }
    return result
  }

  private func tell() {
    while let state = nextUntold() { states.send(state) }
  }

  private func nextUntold() -> State? {
    lock.withLock {
      guard !untold.isEmpty else {
        isTelling = false
        return nil
      }
      return untold.removeFirst()
    }
  }
}

/// A circuit breaker has refused a call, because the service behind it fails.
///
/// It is not worth a retry by itself: the breaker would refuse again.
public struct CircuitOpen: Error {
  /// What the breaker protects.
  public let name: String
  /// How long it takes at least until a call may be let through; `nil` if only a person can say.
  public let retryAfter: Duration?
  /// What the service failed with last.
  public let lastError: (any Error)?
}

extension CircuitOpen: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    let cause = lastError.map { " Last error: \($0)." } ?? ""
    guard let retryAfter else { return "\(name) was taken out of service; try again later.\(cause)" }
    return "\(name) does not answer as it should; try again in \(retryAfter).\(cause)"
  }
}
