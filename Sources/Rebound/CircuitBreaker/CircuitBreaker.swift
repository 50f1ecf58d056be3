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

  private let policy: CircuitBreakerPolicy
  private let time: MonotonicTime
  private let random: RandomSource
  private let isFailure: @Sendable (any Error) -> Bool
  private let states = CurrentValueSubject<State, Never>(.closed)

  private let lock = Lock()
  private var machine: CircuitBreakerMachine
  private var lastError: (any Error)?
  private var refused = 0
  private var observer: (@Sendable (CircuitBreakerEvent) -> Void)?
  /// What is not told yet, and whether some thread is telling it.
  private var untold: [CircuitBreakerEvent] = []
  private var isTelling = false

  /// Makes a closed breaker.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: When it opens, and what lets it close again.
  ///   - time: Measures windows, open times and leases.
  ///   - random: Where the jitter of the open time gets its randomness.
  ///   - isFailure: Which errors speak against the service; the others have no vote, as cancels never do. A refusal of
  ///     the user's input should not open a breaker.
  public init(
    _ name: String,
    policy: CircuitBreakerPolicy,
    time: MonotonicTime = .continuous,
    random: RandomSource = .system,
    countingAsFailure isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.name = name
    self.policy = policy
    self.time = time
    self.random = random
    self.isFailure = isFailure
    machine = CircuitBreakerMachine(policy)
  }

  /// Tells an observer of each change and each refusal from now on.
  ///
  ///     let breaker = CircuitBreaker("weather", policy: policy).onEvent { log.notice("\($0)") }
  ///
  /// - Parameter observer: Gets them in order, with no lock held, on the thread of a call that caused one; those that come
  ///   from several threads at the same time are told by one of them.
  /// - Returns: The same breaker.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (CircuitBreakerEvent) -> Void) -> CircuitBreaker {
    lock.withLock {
      self.observer = { [earlier = self.observer] event in
        earlier?(event)
        observer(event)
      }
    }
    return self
  }

  /// What the breaker does with calls now; reading it changes nothing.
  ///
  /// One that is open is open until a call finds that its time is over; see ``stateChanges(on:)``.
  public var state: State { lock.withLock { machine.state } }

  /// What the breaker has counted; reading it changes nothing, and is not counted.
  public var metrics: CircuitBreakerMetrics {
    let now = time.now
    return lock.withLock { machine.metrics(now: now, refused: refused) }
  }

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
    let now = time.now
    let (result, tells): (Result<CircuitBreakerMachine.Permit, CircuitOpen>, Bool) = lock.withLock {
      let before = machine.state
      switch machine.admit(now: now) {
      case .granted(let permit): return (.success(permit), noteLocked(before, now))
      case .rejected(let retryAfter):
        let outFor = machine.outFor(now: now)
        let refusal = CircuitOpen(name: name, retryAfter: retryAfter, outFor: outFor, lastError: lastError)
        refused += 1
        return (.failure(refusal), noteLocked(before, now, refusal))
      }
    }
    if tells { tell() }
    return Call(try result.get(), of: self)
  }

  /// Becomes half open if the open time is over, as it would with the next call.
  func poll() { change { machine, now in machine.poll(now: now) } }

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
    let chance = policy.openJitter > 0 ? random.next() : 0.5
    change { machine, now in machine.settle(permit, outcome, now: now, chance: chance) }
  }

  /// Changes the machine, then tells the observers, one change after the other whichever threads they come from.
  private func change(_ body: (inout CircuitBreakerMachine, Duration) -> Void) {
    let now = time.now
    let tells = lock.withLock {
      let before = machine.state
      body(&machine, now)
      return noteLocked(before, now)
    }
    if tells { tell() }
  }

  /// Notes what there is to tell; with the lock held.
  ///
  /// - Returns: Whether the caller has to tell it, since nobody else does.
  private func noteLocked(_ before: State, _ now: Duration, _ refusal: CircuitOpen? = nil) -> Bool {
    if machine.state != before {
      let openTime = machine.metrics(now: now, refused: refused).retryAfter
      let change = CircuitBreakerEvent.Kind.changed(from: before, to: machine.state, openTime: openTime)
      untold.append(CircuitBreakerEvent(name: name, kind: change))
    }
    // Nobody else wants to know of refusals, of which there may be many.
    if let refusal, observer != nil { untold.append(CircuitBreakerEvent(name: name, kind: .refused(refusal))) }
    guard !untold.isEmpty, !isTelling else { return false }
    isTelling = true
    return true
  }

  private func tell() {
    while let (event, observer) = nextUntold() {
      observer?(event)
      if case .changed(_, let state, _) = event.kind { states.send(state) }
    }
  }

  private func nextUntold() -> (CircuitBreakerEvent, (@Sendable (CircuitBreakerEvent) -> Void)?)? {
    lock.withLock {
      guard !untold.isEmpty else {
        isTelling = false
        return nil
      }
      return (untold.removeFirst(), observer)
    }
  }
}
