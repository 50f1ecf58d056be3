import Combine

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
    /// Those who wait, by number.
    var waiters: [Int: Waiter] = [:]
    /// The one whose turn is next, and the alarm that rings for it.
    var armed: Int?
    var alarm: (any Cancellable)?
    var lastArming = 0
  }

  private struct Waiter {
    /// Told when the call begins.
    let answer: (Result<Duration, RateLimited>) -> Void
    let alarm: Alarm
  }

  /// What is to be done with the lock open.
  private struct Steps {
    var admitted: [Waiter] = []
    var disarmed: (any Cancellable)?
    var arming: (Alarm, arming: Int, after: Duration)?
  }

  /// What the limiter protects, for its errors.
  public let name: String
  private let time: MonotonicTime
  private let isThrottling: @Sendable (any Error) -> Bool
  private let shared: Shared<State, RateLimiterEvent>

  /// Makes a limiter at its full rate.
  ///
  /// - Parameters:
  ///   - name: What it protects, for its errors.
  ///   - policy: How many calls may begin in a time.
  ///   - time: Measures it. It has to go at the pace of the schedulers and clocks that wait.
  ///   - isThrottling: Which errors say that the service was called too often; those that ask for a pause
  ///     (``RetryAfterProviding``) unless told otherwise.
  public init(
    _ name: String,
    policy: RateLimiterPolicy,
    time: MonotonicTime = .continuous,
    throttledWhen isThrottling: @escaping @Sendable (any Error) -> Bool = {
      ($0 as? any RetryAfterProviding)?.retryAfter != nil
    }
  ) {
    self.name = name
    self.time = time
    self.isThrottling = isThrottling
    shared = Shared(State(machine: RateLimiterMachine(policy, now: time.now)))
  }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (RateLimiterEvent) -> Void) -> RateLimiter {
    shared.observe(observer)
    return self
  }

  /// How many calls wait.
  public var queued: Int { shared.read { $0.machine.queued } }

  /// The share of the full rate that holds now, from what the service has said.
  public var share: Double { shared.read { $0.machine.share } }

  /// What the limiter holds now; reading it changes nothing.
  public var snapshot: Snapshot { shared.read { Snapshot(queued: $0.machine.queued, share: $0.machine.share) } }

  // MARK: Calls

  /// Lets a call begin if it may begin now, and does not wait.
  ///
  /// - Throws: ``RateLimited`` if it may not.
  public func acquire() throws(RateLimited) {
    let now = time.now
    try shared.change { (state, events) throws(RateLimited) in
      switch state.machine.enter(now: now, mayWait: false) {
      case .granted, .queued: events.append(.admitted)
      case .rejected(let retryAfter):
        events.append(.rejected(retryAfter: retryAfter))
        throw refusal(state, retryAfter)
      }
    }
  }

  /// Asks to begin.
  ///
  /// - Parameter answer: As in ``Admission/ask``.
  func ask(
    alarm: Alarm,
    _ answer: @escaping (Result<Duration, RateLimited>) -> Void
  ) -> (any Cancellable)? {
    let now = time.now
    enum Reply {
      case known(Result<Duration, RateLimited>)
      case queued(Int, Steps)
    }
    let reply: Reply = shared.change { state, events in
      switch state.machine.enter(now: now) {
      case .granted:
        events.append(.admitted)
        return .known(.success(now))
      case .rejected(let retryAfter):
        events.append(.rejected(retryAfter: retryAfter))
        return .known(.failure(refusal(state, retryAfter)))
      case .queued(let number, let wait):
        state.waiters[number] = Waiter(answer: answer, alarm: alarm)
        events.append(.queued(wait: wait, queued: state.machine.queued))
        return .queued(number, advance(&state, now: now, &events))
      }
    }
    switch reply {
    case .known(let result):
      answer(result)
      return nil
    case .queued(let number, let steps):
      carryOut(steps, now: now)
      return AnyCancellable { self.abandon(number) }
    }
  }

  /// The service has said that there were too many calls.
  ///
  /// - Parameter pause: For how long it wants none.
  public func throttle(pause: Duration? = nil) {
    throttle(pause: pause, begun: nil)
  }

  private func throttle(pause: Duration?, begun: Duration?) {
    let now = time.now
    let (steps, refused) = shared.change { state, events in
      let late = state.machine.throttle(pause: pause, begun: begun, now: now)
      events.append(.throttled(share: state.machine.share, pause: pause))
      let refused = late.map { number, retryAfter in
        events.append(.rejected(retryAfter: retryAfter))
        return (state.waiters.removeValue(forKey: number), refusal(state, retryAfter))
      }
      return (advance(&state, now: now, &events, rearms: true), refused)
    }
    carryOut(steps, now: now)
    for (waiter, error) in refused { waiter?.answer(.failure(error)) }
  }

  /// A call has succeeded, and the rate goes up if it was low.
  public func succeed() {
    let now = time.now
    shared.change { state, events in
      let before = state.machine.share
      state.machine.succeed(now: now)
      if state.machine.share != before { events.append(.recovered(share: state.machine.share)) }
    }
  }

  /// A call has ended that began at this moment.
  func settle(_ end: ExecutionEnd, begun: Duration) {
    switch end {
    case .finished: succeed()
    case .failed(let error):
      if isThrottling(error) { throttle(pause: (error as? any RetryAfterProviding)?.retryAfter, begun: begun) }
    case .cancelled: break
    }
  }

  private func abandon(_ number: Int) {
    let now = time.now
    let (waiter, steps): (Waiter?, Steps) = shared.change { state, events in
      guard state.machine.abandon(number) else { return (nil, Steps()) }
      events.append(.abandoned(queued: state.machine.queued))
      return (state.waiters.removeValue(forKey: number), advance(&state, now: now, &events))
    }
    withExtendedLifetime(waiter) {}
    carryOut(steps, now: now)
  }

  /// The alarm of the one whose turn is next rings.
  private func ring(_ arming: Int) {
    let now = time.now
    let steps: Steps = shared.change { state, events in
      // Another alarm may have been set meanwhile.
      guard state.lastArming == arming else { return Steps() }
      return advance(&state, now: now, &events, rearms: true)
    }
    carryOut(steps, now: now)
  }

  private func refusal(_ state: State, _ retryAfter: Duration) -> RateLimited {
    RateLimited(name: name, retryAfter: retryAfter, queueLength: state.machine.queued)
  }

  /// Lets those begin whose turn has come, and sees to the alarm of the next one; with the lock held.
  private func advance(
    _ state: inout State,
    now: Duration,
    _ events: inout [RateLimiterEvent],
    rearms: Bool = false
  ) -> Steps {
    var steps = Steps()
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
      steps.arming = (waiter.alarm, state.lastArming, wait)
    }
    return steps
  }

  private func carryOut(_ steps: Steps, now: Duration) {
    steps.disarmed?.cancel()
    if let (alarm, arming, wait) = steps.arming {
      // On the trampoline, for a scheduler that rings at once would otherwise nest until it is time.
      let pending = alarm.set(wait) { Trampoline.run([{ self.ring(arming) }]) }
      let isCurrent = shared.change { state, _ in
        guard state.lastArming == arming else { return false }
        state.alarm = pending
        return true
      }
      if !isCurrent { pending.cancel() }
    }
    for waiter in steps.admitted { waiter.answer(.success(now)) }
  }
}

extension RateLimiter {
  /// Runs an asynchronous function once it may begin, and learns from how it ends.
  ///
  /// - Parameters:
  ///   - clock: Measures the wait.
  ///   - isolation: The caller's.
  ///   - operation: The call.
  /// - Throws: ``RateLimited`` if it is refused; `CancellationError` if the task is cancelled while it waits; otherwise
  ///   what the function throws.
  public func run<Value, C: Clock>(
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws -> Value
  ) async throws -> Value where C.Duration == Duration {
    let begun = try await Answer<Duration>.wait(isolation: isolation) { self.ask(alarm: Alarm(clock), $0) }
    do {
      let value = try await operation()
      settle(.finished, begun: begun)
      return value
    } catch {
      settle(error is CancellationError || Task.isCancelled ? .cancelled : .failed(error), begun: begun)
      throw error
    }
  }
}
