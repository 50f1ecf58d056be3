import Combine
import StreamSupport

/// One subscription to a retrying publisher: the attempts, one after the other, seen as one.
///
/// The lock guards `state` and is held for a few lines, never while foreign code runs. What leaves the state is handed
/// out first and released after.
final class RetryExecution<Upstream: Publisher, Context: Scheduler, Downstream: Subscriber>: Subscription
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  typealias Recipe = Publishers.RetryWithPolicy<Upstream, Context>

  private enum Phase {
    /// Subscribing to the upstream, whose subscription has not come yet.
    case subscribing(attempt: Int)
    /// An attempt runs.
    case running(attempt: Int, any Subscription)
    /// An attempt has failed and the policy is being asked.
    case deciding
    /// The attempt after this one comes when the timer fires. It has no timer yet while the scheduler is being asked.
    case waiting(after: Int, timer: (any Cancellable)?)
    /// The next attempt comes as soon as the loop gets to it.
    case due
    case over
  }

  /// What an execution holds until it is over.
  private struct Holdings {
    let recipe: Recipe
    let downstream: Downstream
    let start: Context.SchedulerTimeType
    /// Written back after each decision, by whoever put the phase `deciding`.
    var machine: RetryMachine<Upstream.Failure>
  }

  private struct State {
    var phase = Phase.due
    var holdings: Holdings?
    /// What the downstream has requested and not yet received.
    var owed = Subscribers.Demand.none
    /// Whether some thread is in the loop that subscribes, and will see that another attempt is due.
    var isLooping = false
    /// The number of the attempt that was begun last, from 1.
    var attempt = 0
  }

  private let lock = Lock()
  private var state = State()

  init(_ recipe: Recipe, downstream: Downstream) {
    state.holdings = Holdings(
      recipe: recipe,
      downstream: downstream,
      start: recipe.scheduler.now,
      machine: RetryMachine(recipe.policy)
    )
  }

  /// Starts the first attempt, unless the downstream has cancelled already.
  func begin() {
    subscribeWhileDue()
  }
}

// MARK: - What the downstream asks

extension RetryExecution {
  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let running: (any Subscription)? = lock.withLock {
      state.owed += demand
      guard case .running(_, let subscription) = state.phase else { return nil }
      return subscription
    }
    running?.request(demand)
  }

  func cancel() {
    let (phase, holdings) = end()
    switch phase {
    case .running(_, let subscription): subscription.cancel()
    case .waiting(_, let timer): timer?.cancel()
    case .subscribing, .deciding, .due, .over: break
    }
    // Released here, with the lock open: the last reference to a publisher or subscriber may run its deinit.
    withExtendedLifetime(holdings) {}
  }

  /// Ends the execution.
  ///
  /// The first caller gets what there was to release.
  private func end() -> (Phase, Holdings?) {
    lock.withLock { endLocked() }
  }

  private func endLocked() -> (Phase, Holdings?) {
    let rest = (state.phase, state.holdings)
    state.phase = .over
    state.holdings = nil
    return rest
  }
}

// MARK: - What an attempt tells

extension RetryExecution {
  func receive(_ subscription: any Subscription, of attempt: Int) {
    let owed: Subscribers.Demand? = lock.withLock {
      guard case .subscribing(attempt) = state.phase else { return nil }
      state.phase = .running(attempt: attempt, subscription)
      return state.owed
    }
    guard let owed else { return subscription.cancel() }
    if owed > .none { subscription.request(owed) }
  }

  func receive(_ input: Upstream.Output, of attempt: Int) -> Subscribers.Demand {
    let downstream: Downstream? = lock.withLock {
      guard case .running(attempt, _) = state.phase, state.owed > .none else { return nil }
      state.owed -= 1
      return state.holdings?.downstream
    }
    guard let more = downstream?.receive(input), more > .none else { return .none }
    // The upstream may have failed meanwhile, from inside the downstream; then the demand is the next attempt's.
    let successor: (any Subscription)?? = lock.withLock {
      state.owed += more
      guard case .running(let current, let subscription) = state.phase else { return .some(nil) }
      return current == attempt ? nil : .some(subscription)
    }
    guard let successor else { return more }
    successor?.request(more)
    return .none
  }

  func receive(_ completion: Subscribers.Completion<Upstream.Failure>, of attempt: Int) {
    switch completion {
    case .finished: finish(attempt)
    case .failure(let error): fail(attempt, with: error)
    }
  }

  private func finish(_ attempt: Int) {
    let rest: (Phase, Holdings?)? = lock.withLock { isCurrent(attempt) ? endLocked() : nil }
    rest?.1?.downstream.receive(completion: .finished)
  }

  private func fail(_ attempt: Int, with error: Upstream.Failure) {
    let failed: (Phase, Holdings)? = lock.withLock {
      guard isCurrent(attempt), let holdings = state.holdings else { return nil }
      let phase = state.phase
      state.phase = .deciding
      return (phase, holdings)
    }
    guard let (_, holdings) = failed else { return }
    let elapsed = Duration(approximating: holdings.start.distance(to: holdings.recipe.scheduler.now))
    // A copy, since the policy's closures run in it and may come back here, to cancel.
    var machine = holdings.machine
    switch machine.failed(with: error, elapsed: elapsed) {
    case .stop(let final):
      // Nothing is left if the downstream cancelled while the policy was being asked.
      end().1?.downstream.receive(completion: .failure(final))
    case .retry(after: .zero):
      if decide(on: .due, machine) { subscribeWhileDue() }
    case .retry(let delay):
      if decide(on: .waiting(after: attempt, timer: nil), machine) { wait(delay, after: attempt, on: holdings.recipe) }
    }
  }

  /// Goes from deciding to what was decided, unless the downstream has cancelled meanwhile.
  private func decide(on phase: Phase, _ machine: RetryMachine<Upstream.Failure>) -> Bool {
    lock.withLock {
      guard case .deciding = state.phase else { return false }
      state.phase = phase
      state.holdings?.machine = machine
      return true
    }
  }

  private func isCurrent(_ attempt: Int) -> Bool {
    switch state.phase {
    case .subscribing(let current), .running(let current, _): return current == attempt
    case .deciding, .waiting, .due, .over: return false
    }
  }
}

// MARK: - The next attempt

extension RetryExecution {
  private func wait(_ delay: Duration, after attempt: Int, on recipe: Recipe) {
    // A repeating timer, stopped when it first fires, since a scheduler's one-shot cannot be cancelled.
    let interval = Context.SchedulerTimeType.Stride(delay)
    let timer = recipe.scheduler.schedule(
      after: recipe.scheduler.now.advanced(by: interval),
      interval: interval,
      tolerance: recipe.scheduler.minimumTolerance,
      options: recipe.options
    ) { self.waited(after: attempt) }
    let isWaiting = lock.withLock {
      guard case .waiting(attempt, _) = state.phase else { return false }
      state.phase = .waiting(after: attempt, timer: timer)
      return true
    }
    // It fired on another thread, or synchronously, or the downstream cancelled: nobody else knows this timer.
    if !isWaiting { timer.cancel() }
  }

  private func waited(after attempt: Int) {
    let timer: (any Cancellable)?? = lock.withLock {
      guard case .waiting(attempt, let timer) = state.phase else { return nil }
      state.phase = .due
      return .some(timer)
    }
    guard let timer else { return }
    timer?.cancel()
    subscribeWhileDue()
  }

  /// Subscribes as long as an attempt is due.
  ///
  /// An attempt that fails while it is being subscribed to makes the next one due and returns; this loop, further up on
  /// the stack, gets to it. So any number of synchronous failures takes the same stack.
  private func subscribeWhileDue() {
    while let (attempt, upstream) = nextAttempt() {
      upstream.subscribe(attempt)
      lock.withLock { state.isLooping = false }
    }
  }

  private func nextAttempt() -> (RetryAttempt<Upstream, Context, Downstream>, Upstream)? {
    lock.withLock {
      guard case .due = state.phase, !state.isLooping, let holdings = state.holdings else { return nil }
      state.isLooping = true
      state.attempt += 1
      state.phase = .subscribing(attempt: state.attempt)
      return (RetryAttempt(state.attempt, of: self), holdings.recipe.upstream)
    }
  }
}

extension RetryExecution: CustomStringConvertible {
  var description: String { "RetryWithPolicy" }
}

/// The subscriber of one attempt.
///
/// Each attempt has its own, so that whatever a superseded one still sends is known.
final class RetryAttempt<Upstream: Publisher, Context: Scheduler, Downstream: Subscriber>: Subscriber
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  private let number: Int
  private let execution: RetryExecution<Upstream, Context, Downstream>

  init(_ number: Int, of execution: RetryExecution<Upstream, Context, Downstream>) {
    self.number = number
    self.execution = execution
  }

  func receive(subscription: any Subscription) {
    execution.receive(subscription, of: number)
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand {
    execution.receive(input, of: number)
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    execution.receive(completion, of: number)
  }
}

extension RetryAttempt: CustomStringConvertible {
  var description: String { "RetryWithPolicy" }
}
