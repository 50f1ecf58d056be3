import Combine
import StreamSupport

/// Lets so many calls begin in a time, and makes some of the others wait.
///
///     let limiter = RateLimiter("search", policy: try .tokenBucket(10, per: .seconds(1)).waiting(atMost: .seconds(5)))
///     request.rateLimited(by: limiter)
///     let result = try await limiter.run { try await client.search(text) }
///
/// One limiter is shared by everything that calls the same service. Those who wait begin in the order in which they
/// came; when one of them cancels, those behind it move up. A refusal says exactly how long it takes until the call
/// could begin. When the service itself says that there were too many calls, all pause for as long as it asks, and the
/// rate goes down for a while.
public final class RateLimiter: Sendable {
  private struct State {
    var machine: RateLimiterMachine
    /// The latest present that a call has brought; a step back counts as no time at all.
    var latest = Duration.zero
    /// Those who wait, by number.
    var waiters: [Int: Waiter] = [:]
    /// The one whose turn is next, and the alarm that rings for it.
    var armed: Int?
    var alarm: (any Cancellable)?
    var lastArming = 0
  }

  private struct Waiter {
    /// Told when the call begins.
    let answer: @Sendable (Result<Duration, any Error>) -> Void
    let time: TimeSource
  }

  /// What is to be done with the lock open.
  private struct Steps {
    var admitted: [Waiter] = []
    /// When they begin.
    var moment = Duration.zero
    var disarmed: (any Cancellable)?
    var arming: (TimeSource, arming: Int, after: Duration, due: Duration)?
  }

  /// What the limiter protects, for its errors.
  public let name: String
  private let isThrottling: @Sendable (any Error) -> Bool
  private let shared: Shared<State, RateLimiterEvent>
  /// 1 while the rate is below the full one; read by each success, without the lock.
  private let isLowered = AtomicWord()

  /// Makes a limiter at its full rate.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: How many calls may begin in a time.
  ///   - isThrottling: Which errors say that the service was called too often; those that ask for a pause
  ///     (``RetryAfterProviding``) and are no refusal of this program's own unless told otherwise.
  public init(
    _ name: String,
    policy: RateLimiterPolicy,
    throttledWhen isThrottling: @escaping @Sendable (any Error) -> Bool = RateLimiter.asksForPause
  ) {
    self.name = name
    self.isThrottling = isThrottling
    shared = Shared(State(machine: RateLimiterMachine(policy)))
  }

  /// Makes a limiter that knows what another one was told by the service, and goes by the same clock.
  ///
  /// Whoever waits stays with the other one, and so do its observers.
  package init(_ other: RateLimiter, policy: RateLimiterPolicy) {
    (name, isThrottling) = (other.name, other.isThrottling)
    let (machine, latest) = other.shared.read { ($0.machine, $0.latest) }
    shared = Shared(State(machine: RateLimiterMachine(policy, feedbackOf: machine), latest: latest))
    isLowered.set(machine.isLowered ? 1 : 0)
  }

  /// Which errors say that the service was called too often, unless told otherwise.
  @usableFromInline
  package static func asksForPause(_ error: any Error) -> Bool {
    guard let error = error as? any RetryAfterProviding else { return false }
    return error.retryAfter != nil && !error.isRefusal
  }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (RateLimiterEvent) -> Void) -> RateLimiter {
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (RateLimiterEvent) -> Void) {
    shared.observe(for: audience, observer)
  }

  /// What the limiter holds now; reading it changes nothing.
  public var snapshot: Snapshot { shared.read { Snapshot(queued: $0.machine.queued, share: $0.machine.share) } }

  // MARK: Calls

  /// Lets a call begin if it may begin now, and does not wait.
  ///
  /// - Parameter time: Says what now is.
  /// - Throws: ``RateLimited`` if it may not.
  public func acquire(on time: TimeSource = .current) throws(RateLimited) {
    // Read with no lock held.
    let present = time.now
    let (steps, refused): (Steps, RateLimited?) = shared.change { state, events in
      let now = state.latest.advance(to: present)
      let steps = letInTheDue(&state, now: now, &events)
      switch state.machine.enter(now: now, mayWait: false) {
      case .granted, .queued:
        events.append(.admitted)
        return (steps, nil)
      case .rejected(let retryAfter):
        events.append(.rejected(retryAfter: retryAfter))
        return (steps, refusal(state, retryAfter))
      }
    }
    carryOut(steps)
    if let refused { throw refused }
  }

  /// Lets a call begin if it may begin now, and nobody listens.
  func beginAtOnce(at now: Duration) -> Bool {
    shared.adjust { state, isListened in
      guard !isListened else { return false }
      return state.machine.takeAtOnce(now: state.latest.advance(to: now))
    }
  }

  /// Asks to begin; see ``AdmissionControl/ask(_:_:)``.
  ///
  /// - Parameter moment: The present, if it is known.
  func ask(
    time: TimeSource,
    at moment: Duration?,
    _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
  ) -> (any Cancellable)? {
    let present = moment ?? time.now
    enum Reply {
      case known(Result<Duration, any Error>)
      case queued(Int, Steps)
    }
    let (due, reply): (Steps, Reply) = shared.change { state, events in
      let now = state.latest.advance(to: present)
      let due = letInTheDue(&state, now: now, &events)
      switch state.machine.enter(now: now) {
      case .granted:
        events.append(.admitted)
        return (due, .known(.success(now)))
      case .rejected(let retryAfter):
        events.append(.rejected(retryAfter: retryAfter))
        return (due, .known(.failure(refusal(state, retryAfter))))
      case .queued(let number, let wait):
        state.waiters[number] = Waiter(answer: answer, time: time)
        events.append(.queued(wait: wait, queued: state.machine.queued))
        return (due, .queued(number, advance(&state, now: now, &events)))
      }
    }
    carryOut(due)
    switch reply {
    case .known(let result):
      answer(result)
      return nil
    case .queued(let number, let steps):
      carryOut(steps)
      return AnyCancellable {
        // Also released when it was answered; then the time does not matter any more.
        if self.isWaiting(number) { self.abandon(number, at: time.now) }
      }
    }
  }

  /// The service has said that there were too many calls.
  ///
  /// - Parameters:
  ///   - pause: For how long it wants none; a longer one than ``RateLimiterPolicy/Feedback/maxHint`` counts as that.
  ///   - now: The present, on the time of the execution.
  public func throttle(pause: Duration? = nil, at now: Duration = TimeSource.current.now) {
    throttle(pause: pause, begun: nil, at: now)
  }

  private func throttle(pause: Duration?, begun: Duration?, at now: Duration) {
    let (steps, refused) = shared.change { state, events in
      let now = state.latest.advance(to: now)
      let late = state.machine.throttle(pause: pause, begun: begun, now: now)
      isLowered.set(state.machine.isLowered ? 1 : 0)
      events.append(.throttled(share: state.machine.share, pause: state.machine.bounded(pause)))
      let refused = late.map { number, retryAfter in
        events.append(.rejected(retryAfter: retryAfter))
        return (state.waiters.removeValue(forKey: number), refusal(state, retryAfter))
      }
      return (advance(&state, now: now, &events, rearms: true), refused)
    }
    carryOut(steps)
    for (waiter, error) in refused { waiter?.answer(.failure(error)) }
  }

  /// A call has succeeded, and the rate goes up if it was low.
  ///
  /// - Parameter now: The present, on the time of the execution.
  public func succeed(at now: Duration = TimeSource.current.now) {
    succeed { now }
  }

  @inline(__always)
  private func succeed(_ now: () -> Duration) {
    if isLowered.value == 1 { recover(at: now()) }
  }

  private func recover(at present: Duration) {
    let steps: Steps = shared.change { state, events in
      let (before, now) = (state.machine.share, state.latest.advance(to: present))
      state.machine.succeed(now: now)
      isLowered.set(state.machine.isLowered ? 1 : 0)
      guard state.machine.share != before else { return Steps() }
      events.append(.recovered(share: state.machine.share))
      // The turn of whoever waits comes sooner now.
      return state.machine.queued > 0 ? advance(&state, now: now, &events, rearms: true) : Steps()
    }
    carryOut(steps)
  }

  private func isWaiting(_ number: Int) -> Bool { shared.read { $0.waiters[number] != nil } }

  private func abandon(_ number: Int, at now: Duration) {
    let (waiter, steps): (Waiter?, Steps) = shared.change { state, events in
      guard state.machine.abandon(number) else { return (nil, Steps()) }
      events.append(.abandoned(queued: state.machine.queued))
      return (state.waiters.removeValue(forKey: number), advance(&state, now: state.latest.advance(to: now), &events))
    }
    withExtendedLifetime(waiter) {}
    carryOut(steps)
  }

  /// The timer of the one whose turn is next rings.
  private func ring(_ arming: Int, at now: Duration) {
    let steps: Steps = shared.change { state, events in
      // Another timer may have been set meanwhile.
      guard state.lastArming == arming else { return Steps() }
      return advance(&state, now: state.latest.advance(to: now), &events, rearms: true)
    }
    carryOut(steps)
  }

  private func refusal(_ state: State, _ retryAfter: Duration) -> RateLimited {
    RateLimited(name: name, retryAfter: retryAfter, queued: state.machine.queued)
  }

  /// Lets those begin whose turn has come though their alarm has not rung yet, before whoever comes now; with the lock held.
  ///
  /// After a sleep of the system, say: whoever came then was refused, and told to come again in no time.
  private func letInTheDue(
    _ state: inout State,
    now: Duration,
    _ events: inout UntoldEvents<RateLimiterEvent>
  ) -> Steps {
    state.machine.queued > 0 ? advance(&state, now: now, &events) : Steps()
  }

  /// Lets those begin whose turn has come, and sees to the alarm of the next one; with the lock held.
  private func advance(
    _ state: inout State,
    now: Duration,
    _ events: inout UntoldEvents<RateLimiterEvent>,
    rearms: Bool = false
  ) -> Steps {
    var steps = Steps()
    steps.moment = now
    let (granted, wait) = state.machine.advance(now: now)
    for (index, number) in granted.enumerated() {
      guard let waiter = state.waiters.removeValue(forKey: number) else { continue }
      events.append(.admittedAfterWait(queued: state.machine.queued + granted.count - 1 - index))
      steps.admitted.append(waiter)
    }
    let next = state.machine.next
    if !rearms, next == state.armed { return steps }
    steps.disarmed = state.alarm
    (state.alarm, state.armed) = (nil, next)
    state.lastArming += 1
    if let next, let wait, let waiter = state.waiters[next] {
      steps.arming = (waiter.time, state.lastArming, wait, now + wait)
    }
    return steps
  }

  private func carryOut(_ steps: Steps) {
    steps.disarmed?.cancel()
    if let (time, arming, wait, due) = steps.arming {
      // On the trampoline, for a scheduler that rings at once would otherwise nest until it is time.
      let pending = time.after(wait) { Trampoline.run([{ self.ring(arming, at: max(due, time.now)) }]) }
      let isCurrent = shared.adjust { state, _ in
        guard state.lastArming == arming else { return false }
        state.alarm = pending
        return true
      }
      if !isCurrent { pending.cancel() }
    }
    for waiter in steps.admitted { waiter.answer(.success(steps.moment)) }
  }
}

extension RateLimiter: AdmissionControl, Policy {
  /// Lets a call begin if it may begin now, and nobody listens.
  public func admitAtOnce(_ execution: ExecutionContext) -> Duration? {
    var moment: Duration?
    return admitAtOnce(execution, &moment)
  }

  /// Lets a call begin if it may begin now, and nobody listens.
  public func admitAtOnce(_ execution: ExecutionContext, _ moment: inout Duration?) -> Duration? {
    let now = execution.now
    moment = now
    return beginAtOnce(at: now) ? now : nil
  }

  /// Asks to begin.
  public func ask(
    _ execution: ExecutionContext,
    _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
  ) -> (any Cancellable)? {
    ask(execution, at: nil, answer)
  }

  /// Asks to begin.
  public func ask(
    _ execution: ExecutionContext,
    at moment: Duration?,
    _ answer: @escaping @Sendable (Result<Duration, any Error>) -> Void
  ) -> (any Cancellable)? {
    ask(time: execution.time, at: moment, answer)
  }

  /// Learns from how the call has ended that began at this moment.
  public func settle(_ begun: Duration, _ end: ExecutionEnd, _ execution: ExecutionContext) {
    switch end {
    case .succeeded: succeed { execution.now }
    case .failed(let error):
      guard isThrottling(error) else { return }
      throttle(pause: Rebound.pause(askedBy: error), begun: begun, at: execution.now)
    case .cancelled: break
    }
  }
}
