import Combine
import StreamSupport

/// One subscription whose time is limited.
///
/// The lock guards all state and is held for a few lines; the scheduler, the policy's closures and both neighbours are
/// called, and what leaves the state is released, with the lock open.
final class TimeoutExecution<Upstream: Publisher, Context: Scheduler, Downstream: Subscriber>:
  Subscriber, Subscription, CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  typealias Input = Upstream.Output
  typealias Failure = Upstream.Failure
  private typealias Recipe = Publishers.TimeoutWithPolicy<Upstream, Context>
  private typealias Moment = Context.SchedulerTimeType

  private enum Phase {
    /// Not begun.
    case ready
    /// Subscribing to the upstream, whose subscription has not come yet.
    case subscribing
    case running(any Subscription)
    /// A limit is reached, and the observer is being told.
    case expiring((any Subscription)?)
    case over(hasTimedOut: Bool)
  }

  /// The one timer there is.
  private struct Watch {
    let due: Duration
    let number: Int
    /// `nil` until the scheduler has returned it.
    var timer: (any Cancellable)?
  }

  private struct State {
    var phase = Phase.ready
    /// Both go when it is over.
    var ends: (recipe: Recipe, downstream: Downstream)?
    /// What the downstream has requested and not yet received.
    var owed = Subscribers.Demand.none
    /// Since when something is owed and nothing has come; exact only for policies that look at it.
    var waitingSince: Moment?
    var values = 0
    var watch: Watch?
    var lastWatch = 0
  }

  private let lock = Lock()
  private var state = State()
  private let machine: TimeoutMachine
  private let policy: TimeoutPolicy
  private let scheduler: Context
  private let start: Moment

  init(_ recipe: Publishers.TimeoutWithPolicy<Upstream, Context>, downstream: Downstream) {
    policy = recipe.policy
    scheduler = recipe.scheduler
    machine = TimeoutMachine(recipe.policy)
    start = recipe.scheduler.now
    state.ends = (recipe, downstream)
  }

  var description: String { "TimeoutWithPolicy" }

  func begin() {
    let recipe: Recipe? = lock.withLock {
      guard case .ready = state.phase else { return nil }
      state.phase = .subscribing
      return state.ends?.recipe
    }
    guard let recipe else { return }
    // Before the subscription, which may take all the time there is.
    watch()
    let deadline = Deadline(in: policy.whole?.limit ?? .longestDelay, from: start, on: scheduler)
    recipe.make(deadline).subscribe(self)
  }

  // MARK: What the upstream tells

  func receive(subscription: any Subscription) {
    let owed: Subscribers.Demand? = lock.withLock {
      guard case .subscribing = state.phase else { return nil }
      state.phase = .running(subscription)
      return state.owed
    }
    guard let owed else { return subscription.cancel() }
    if owed > .none { subscription.request(owed) }
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand {
    let now = policy.betweenValues == nil ? start : scheduler.now
    let downstream: Downstream? = lock.withLock {
      guard case .running = state.phase, state.owed > .none else { return nil }
      state.owed -= 1
      state.values += 1
      state.waitingSince = state.owed > .none ? now : nil
      return state.ends?.downstream
    }
    guard let more = downstream?.receive(input), more > .none else { return .none }
    // The upstream gets it as the answer to its value.
    _ = owe(more)
    return more
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    let (rest, isLate): (State?, Bool) = lock.withLock {
      switch state.phase {
      case .subscribing, .running: (endLocked(hasTimedOut: false), false)
      case .expiring, .over(hasTimedOut: true): (nil, true)
      case .ready, .over(hasTimedOut: false): (nil, false)
      }
    }
    if isLate, case .failure(let error) = completion { DroppedErrors.report(error, by: description) }
    guard let rest else { return }
    rest.watch?.timer?.cancel()
    rest.ends?.downstream.receive(completion: completion)
  }

  // MARK: What the downstream asks

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    owe(demand)?.request(demand)
  }

  func cancel() {
    guard let rest = lock.withLock({ endLocked(hasTimedOut: false) }) else { return }
    rest.watch?.timer?.cancel()
    switch rest.phase {
    case .running(let subscription), .expiring(let subscription?): subscription.cancel()
    case .ready, .subscribing, .expiring(nil), .over: break
    }
    withExtendedLifetime(rest) {}
  }

  /// Adds to what is owed; if nothing was, the upstream's time begins.
  ///
  /// - Returns: The subscription to pass the demand to, if there is one; one that comes later is asked for all of it.
  private func owe(_ demand: Subscribers.Demand) -> (any Subscription)? {
    let looksAtValues = policy.firstValue != nil || policy.betweenValues != nil
    let now = looksAtValues ? scheduler.now : start
    let (begins, subscription): (Bool, (any Subscription)?) = lock.withLock {
      let begins = state.owed == .none
      state.owed += demand
      if begins { state.waitingSince = now }
      if case .running(let subscription) = state.phase { return (begins, subscription) }
      return (begins, nil)
    }
    if begins, looksAtValues { watch() }
    return subscription
  }

  /// Ends whatever goes on; with the lock held.
  ///
  /// - Returns: The state before, for the first caller; it is to be released with the lock open.
  private func endLocked(hasTimedOut: Bool) -> State? {
    if case .over = state.phase { return nil }
    let rest = state
    state = State()
    state.phase = .over(hasTimedOut: hasTimedOut)
    return rest
  }
}

// MARK: - The timer

extension TimeoutExecution {
  /// How much time has passed.
  private func elapsed(at moment: Moment) -> Duration {
    Duration(approximating: start.distance(to: moment))
  }

  private var situation: TimeoutMachine.Situation {
    let now = scheduler.now
    let (since, values) = lock.withLock { (state.waitingSince, state.values) }
    return TimeoutMachine.Situation(
      elapsed: elapsed(at: now),
      waitingSince: since.map { elapsed(at: $0) },
      values: values
    )
  }

  /// Sets the timer for the nearest limit, unless it is set for that or an earlier one.
  ///
  /// A limit that moves away, as that between values does with each value, is left to the timer that is set: it finds
  /// out when it fires.
  private func watch() {
    let due: Duration
    switch machine.verdict(situation) {
    case .rest: return
    case .wait(let until): due = until
    // A limit of zero is left to the scheduler, too: the timeout comes where all timeouts come.
    case .expired(let error): due = error.elapsed
    }
    let (number, superseded): (Int?, (any Cancellable)?) = lock.withLock {
      switch state.phase {
      case .subscribing, .running: break
      case .ready, .expiring, .over: return (nil, nil)
      }
      if let watch = state.watch, watch.due <= due { return (nil, nil) }
      let superseded = state.watch?.timer
      state.lastWatch += 1
      state.watch = Watch(due: due, number: state.lastWatch, timer: nil)
      return (state.lastWatch, superseded)
    }
    superseded?.cancel()
    guard let number else { return }
    let options = lock.withLock { state.ends?.recipe.options }
    let timer = scheduler.timer(after: due - elapsed(at: scheduler.now), options: options) { self.fired(number) }
    let isWanted = lock.withLock {
      guard state.watch?.number == number else { return false }
      state.watch?.timer = timer
      return true
    }
    if !isWanted { timer.cancel() }
  }

  private func fired(_ number: Int) {
    let fired: Watch? = lock.withLock {
      guard let watch = state.watch, watch.number == number else { return nil }
      state.watch = nil
      return watch
    }
    guard let fired else { return }
    fired.timer?.cancel()
    var situation = situation
    // A scheduler whose time stands still, or that is early by its tolerance, has let this much time pass all the same.
    situation.elapsed = max(situation.elapsed, fired.due)
    switch machine.verdict(situation) {
    case .rest: break
    case .wait: watch()
    case .expired(let error): expire(error, unlessMoreThan: situation.values)
    }
  }

  /// Ends it, unless a value has come since this was decided on, for that is first.
  private func expire(_ error: TimedOut, unlessMoreThan values: Int) {
    let looksAtValues = error.kind == .firstValue || error.kind == .betweenValues
    let recipe: Recipe? = lock.withLock {
      guard !looksAtValues || state.values == values else { return nil }
      switch state.phase {
      case .subscribing: state.phase = .expiring(nil)
      case .running(let subscription): state.phase = .expiring(subscription)
      case .ready, .expiring, .over: return nil
      }
      return state.ends?.recipe
    }
    // Whatever has happened instead, the next limit is found anew; if it is over, there is none.
    guard let recipe else { return watch() }
    policy.observer?(.timedOut(error))
    let failure = recipe.failure(error)
    // The downstream may have cancelled while the policy was being asked.
    guard let rest = lock.withLock({ endLocked(hasTimedOut: true) }) else { return }
    rest.watch?.timer?.cancel()
    if case .expiring(let subscription?) = rest.phase { subscription.cancel() }
    rest.ends?.downstream.receive(completion: .failure(failure))
  }
}
