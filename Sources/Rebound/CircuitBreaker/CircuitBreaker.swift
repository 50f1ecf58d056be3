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
/// A breaker learns from calls that have ended. So of a burst all are let through that begin before enough of them have
/// failed; how many those can be is what a ``Bulkhead`` limits.
///
/// It has no time of its own: each call brings the present.
public final class CircuitBreaker: Sendable {
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

  /// What the breaker protects, for its errors: that of the pipeline which has made it of a policy, if it was given none.
  public var name: String { shared.read { $0.name.text } }

  private struct Shares {
    var name: AdoptedName
    var machine: CircuitBreakerMachine
    var lastError: (any Error)?
    var refused = 0
    /// The latest present that a call has brought.
    var latest = Duration.zero
    /// To whom refusals are told besides, of which there may be many.
    var audiences: [Audience] = []
    var tellsRefusals: Bool { audiences.contains(where: \.isThere) }
  }

  private let policy: CircuitBreakerPolicy
  private let random: RandomSource
  private let isFailure: @Sendable (any Error) -> Bool
  private let states = SharedSubject(CurrentValueSubject<State, Never>(.closed))
  private let shared: Shared<Shares, CircuitBreakerEvent>
  /// For nearly all calls.
  private let fastPath = CircuitBreakerFastPath()

  /// Makes a closed breaker.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: When it opens, and what lets it close again.
  ///   - random: Where the jitter of the open time gets its randomness.
  ///   - isFailure: Which errors speak against the service; the others have no vote, as cancels never do. A refusal of
  ///     the user's input should not open a breaker.
  public convenience init(
    _ name: String,
    policy: CircuitBreakerPolicy,
    random: RandomSource = .system,
    failingWhen isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.init(named: name, policy, random, isFailure)
  }

  /// Makes a closed breaker for the pipeline that it is a stage of, and has its name from.
  convenience init(policy: CircuitBreakerPolicy) {
    self.init(named: nil, policy, .system, { _ in true })
  }

  private init(
    named name: String?,
    _ policy: CircuitBreakerPolicy,
    _ random: RandomSource,
    _ isFailure: @escaping @Sendable (any Error) -> Bool
  ) {
    self.policy = policy
    self.random = random
    self.isFailure = isFailure
    shared = Shared(Shares(name: AdoptedName(name, of: .circuitBreaker), machine: CircuitBreakerMachine(policy)))
    shared.observe { [states] event in
      if case .changed(_, let state, _) = event.kind { states.subject.send(state) }
    }
    locked { _, _ in }  // Opens the fast path.
  }

  /// Takes the name of a pipeline, unless it has one.
  func adopt(name: String) {
    shared.adjust { state, _ in state.name.adopt(name) }
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
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (CircuitBreakerEvent) -> Void) {
    shared.observe(for: audience, observer)
    shared.adjust { state, _ in
      state.audiences.removeAll(where: \.isOver)
      state.audiences.append(audience)
    }
  }

  /// Tells an observer of each change from now on, as ``onEvent(_:)`` does, and of no refusal.
  package func onChange(_ observer: @escaping @Sendable (CircuitBreakerEvent) -> Void) {
    shared.observe(observer)
  }

  /// What the breaker does with calls now; reading it changes nothing.
  ///
  /// One that is open is open until a call finds that its time is over; see ``stateChanges(on:)``.
  public var state: State { shared.read { $0.machine.state } }

  /// What the breaker has counted; reading it changes nothing, and is not counted.
  ///
  /// - Parameter time: Says what now is.
  public func snapshot(on time: TimeSource = .current) -> Snapshot {
    let now = time.now
    return locked { state, _ in state.machine.snapshot(now: max(now, state.latest), refused: state.refused) }
  }

  /// The state, and then each change of it, in order, on the thread of the call that caused it.
  public var stateChanges: AnyPublisher<State, Never> { states.subject.removeDuplicates().eraseToAnyPublisher() }

  /// Closes, and forgets all calls.
  public func close() { change(nil) { machine, _ in machine.close() } }

  /// Opens for a while, if it is closed: somebody else has found that the service fails.
  ///
  /// From then on it goes as if it had counted enough failures itself: probes find out whether the service is well again.
  ///
  /// - Parameters:
  ///   - openTime: For how long.
  ///   - now: The present, on the time of the executions.
  /// - Returns: Whether it was closed.
  @discardableResult
  public func open(for openTime: Duration, at now: Duration = TimeSource.current.now) -> Bool {
    change(now) { machine, now in machine.open(for: openTime, now: now) }
  }

  /// Lets nothing through until it is closed by hand.
  public func isolate() { change(nil) { machine, _ in machine.isolate() } }

  /// Lets everything through, and counts nothing, until it is closed by hand.
  public func disable() { change(nil) { machine, _ in machine.disable() } }

  /// How long it stays open; `nil` if it is not.
  func timeUntilProbe(at now: Duration) -> Duration? {
    shared.read { $0.machine.snapshot(now: max(now, $0.latest), refused: 0).retryAfter }
  }

  /// Becomes half open if the open time is over, as it would with the next call.
  package func poll(at now: Duration) { change(now) { machine, now in machine.poll(now: now) } }

  // MARK: Calls

  /// Asks to let a call through.
  ///
  /// - Parameter time: Measures how long the call takes.
  /// - Returns: The call, which is to be told how it ends.
  /// - Throws: ``CircuitOpen`` if it is refused. A refusal is never counted.
  public func acquire(on time: TimeSource = .current) throws(CircuitOpen) -> Call {
    Call(try permit { time.now }.get(), of: self, time)
  }

  /// Asks to let a call through; the present is only read where it matters.
  ///
  /// It does not throw: an open breaker refuses in large numbers, and whoever watches errors being thrown, as Swift Testing does,
  /// takes longer for one than the breaker.
  @inline(__always)
  func permit(_ now: () -> Duration) -> Result<CircuitBreakerMachine.Permit, CircuitOpen> {
    if let permit = fastPath.permit { return .success(permit) }
    return permit(at: now())
  }

  private func permit(at present: Duration) -> Result<CircuitBreakerMachine.Permit, CircuitOpen> {
    locked { state, events in
      let now = state.latest.advance(to: present)
      let before = state.machine.state
      let admission = state.machine.admit(now: now)
      note(before, state, now, &events)
      switch admission {
      case .granted(let permit): return .success(permit)
      case .rejected(let retryAfter):
        let name = state.name.text
        let outFor = state.machine.outFor(now: now)
        let refusal = CircuitOpen(name: name, retryAfter: retryAfter, outFor: outFor, lastError: state.lastError)
        state.refused += 1
        if state.tellsRefusals { events.append(CircuitBreakerEvent(name: name, kind: .refused(refusal))) }
        return .failure(refusal)
      }
    }
  }

  /// The service has answered.
  @inline(__always)
  func succeed(_ permit: CircuitBreakerMachine.Permit, _ now: () -> Duration) {
    let present = policy.countsCalls ? now() : nil
    if !fastPath.count(permit, now: present) { settle(permit, .success, nil, at: present ?? now()) }
  }

  /// The call has failed; whether that speaks against the service, the breaker knows.
  func fail(_ permit: CircuitBreakerMachine.Permit, with error: any Error, at now: Duration) {
    guard !(error is CancellationError), isFailure(error) else { return settle(permit, .ignored, nil, at: now) }
    settle(permit, .failure(hint: pause(askedBy: error)), error, at: now)
  }

  /// The call was cancelled: no vote.
  func cancel(_ permit: CircuitBreakerMachine.Permit, at now: Duration) {
    settle(permit, .ignored, nil, at: now)
  }

  private func settle(
    _ permit: CircuitBreakerMachine.Permit,
    _ outcome: CircuitBreakerMachine.Outcome,
    _ error: (any Error)?,
    at present: Duration
  ) {
    // Only what may open the breaker needs chance. A success does if it is slow, or completes the calls that a ratio needs.
    let mayOpen = outcome != .ignored && (outcome != .success || policy.slowness != nil || policy.failureRatio != nil)
    let chance = policy.openJitter > 0 && mayOpen ? random.next() : 0.5
    let released: (any Error)? = locked { state, events in
      let now = state.latest.advance(to: present)
      let before = state.machine.state
      state.machine.settle(permit, outcome, now: now, chance: chance)
      note(before, state, now, &events)
      guard let error else { return nil }
      let released = state.lastError
      state.lastError = error
      return released
    }
    withExtendedLifetime(released) {}
  }

  /// Looks at the machine or changes it, with all that was counted beside it, then tells the observers.
  private func locked<Result>(_ body: (inout Shares, inout UntoldEvents<CircuitBreakerEvent>) -> Result) -> Result {
    shared.change { state, events in
      state.machine.add(successes: fastPath.close())
      defer { fastPath.open(as: state.machine) }
      return body(&state, &events)
    }
  }

  /// Changes the machine, then tells the observers.
  private func change<Result>(
    _ present: Duration?,
    _ body: (inout CircuitBreakerMachine, Duration) -> Result
  ) -> Result {
    locked { state, events in
      let now = state.latest.advance(to: present ?? state.latest)
      let before = state.machine.state
      let result = body(&state.machine, now)
      note(before, state, now, &events)
      return result
    }
  }

  /// Notes a change of state.
  private func note(
    _ before: State,
    _ state: Shares,
    _ now: Duration,
    _ events: inout UntoldEvents<CircuitBreakerEvent>
  ) {
    let after = state.machine.state
    guard after != before else { return }
    let openTime = state.machine.snapshot(now: now, refused: 0).retryAfter
    let name = state.name.text
    events.append(CircuitBreakerEvent(name: name, kind: .changed(from: before, to: after, openTime: openTime)))
  }

  /// A call that was let through, and is to be told once how it ends.
  ///
  /// One that is forgotten counts as cancelled.
  public final class Call: Sendable {
    private let breaker: CircuitBreaker
    private let time: TimeSource
    private let permit: Locked<CircuitBreakerMachine.Permit?>

    fileprivate init(_ permit: CircuitBreakerMachine.Permit, of breaker: CircuitBreaker, _ time: TimeSource) {
      self.breaker = breaker
      self.time = time
      self.permit = Locked(permit)
    }

    deinit {
      cancel()
    }

    /// The service has answered.
    public func succeed() {
      if let permit = permit.exchange(nil) { breaker.succeed(permit) { time.now } }
    }

    /// The call has failed; whether that speaks against the service, the breaker knows.
    ///
    /// An error that asks for a pause (``RetryAfterProviding``) keeps the breaker open for that long at least.
    public func fail(with error: any Error) {
      if let permit = permit.exchange(nil) { breaker.fail(permit, with: error, at: time.now) }
    }

    /// The call was cancelled: no vote.
    public func cancel() {
      if let permit = permit.exchange(nil) { breaker.cancel(permit, at: time.now) }
    }
  }
}
