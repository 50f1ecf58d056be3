import Combine
import StreamSupport

/// The attempts of one subscription, side by side until one of them wins.
///
/// The lock guards all state but the machine, and is held for a few lines, never while foreign code runs. The machine
/// calls the policy's closures, so it is asked with the lock open, by one thread at a time: the one that works off the
/// news.
final class HedgeExecution<Upstream: Publisher, Downstream: Subscriber>:
  Subscription, TimerTarget, CustomStringConvertible, @unchecked Sendable
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  typealias Failure = Upstream.Failure
  private typealias Recipe = Publishers.Hedged<Upstream>

  private enum Phase {
    case ready
    case racing
    case won(Int, any Subscription)
    case over(isCancelled: Bool)
  }

  /// What the machine is to be told.
  private enum News {
    case begin
    /// The downstream waits for something.
    case watch
    case timeHasCome(due: Duration)
    case failed(Int, Failure)
    case won(Int)
    case cancelled
  }

  /// Whose completion it is.
  private enum Part { case winner, racer, loser, unwanted }

  private struct State {
    var phase = Phase.ready
    /// Both go when it is over.
    var ends: (recipe: Recipe, downstream: Downstream)?
    var owed = Subscribers.Demand.none
    /// The attempts that race, and their subscriptions once they have come.
    var racers: [Int: (any Subscription)?] = [:]
    var timer: (number: Int, timer: (any Cancellable)?)?
    var lastTimer = 0
    var news: [News] = []
    var isWorking = false
  }

  private let lock = Lock()
  private var state = State()
  private var machine: HedgeMachine<Failure>
  /// For when the timer is set; used where the machine is.
  private var timerDue: Duration?
  private let time: TimeSource
  private let start: Duration

  init(_ recipe: Publishers.Hedged<Upstream>, downstream: Downstream) {
    machine = HedgeMachine(recipe.policy)
    time = recipe.time
    start = recipe.time.now
    state.ends = (recipe, downstream)
  }

  var description: String { "Hedged" }

  func begin() {
    let isWanted = lock.withLock {
      guard case .ready = state.phase else { return false }
      state.phase = .racing
      // Here, since a request from another thread must not be told before it.
      state.news = state.owed > .none ? [.begin, .watch] : [.begin]
      return true
    }
    if isWanted { work() }
  }

  // MARK: What the downstream asks

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let (subscriptions, begins, demand): ([any Subscription], Bool, Subscribers.Demand) = lock.withLock {
      let begins = state.owed == .none
      state.owed += demand
      switch state.phase {
      case .won(_, let winner): return ([winner], false, demand)
      case .racing: return (begins ? state.racers.values.compactMap { $0 } : [], begins, .max(1))
      case .ready, .over: return ([], false, .none)
      }
    }
    for subscription in subscriptions { subscription.request(demand) }
    if begins { tell(.watch) }
  }

  func cancel() {
    guard let rest = lock.withLock({ endLocked(isCancelled: true) }) else { return }
    stop(rest)
    tell(.cancelled)
    withExtendedLifetime(rest) {}
  }

  // MARK: What an attempt tells

  fileprivate func receive(_ subscription: any Subscription, of hedge: Int) {
    let owed: Subscribers.Demand? = lock.withLock {
      guard case .racing = state.phase, let known = state.racers[hedge], known == nil else { return nil }
      state.racers[hedge] = .some(subscription)
      return state.owed
    }
    guard let owed else { return subscription.cancel() }
    if owed > .none { subscription.request(.max(1)) }
  }

  fileprivate func receive(_ input: Upstream.Output, of hedge: Int) -> Subscribers.Demand {
    var losers: State?
    let downstream: Downstream? = lock.withLock {
      guard state.owed > .none else { return nil }
      switch state.phase {
      case .won(hedge, _): break
      case .racing:
        guard let winner = state.racers[hedge] ?? nil else { return nil }
        state.racers[hedge] = nil
        losers = state
        (state.racers, state.timer) = ([:], nil)
        state.phase = .won(hedge, winner)
      case .ready, .won, .over: return nil
      }
      state.owed -= 1
      return state.ends?.downstream
    }
    guard let downstream else { return .none }
    // What is owed beyond the one value that each was asked for; whatever is requested from here on goes there by itself.
    let rest = losers?.owed.minusOne ?? .none
    if let losers {
      tell(.won(hedge))
      stop(losers)
    }
    let more = downstream.receive(input)
    guard more > .none || rest > .none else { return .none }
    let isRunning = lock.withLock {
      guard case .won = state.phase else { return false }
      state.owed += more
      return true
    }
    return isRunning ? more + rest : .none
  }

  fileprivate func receive(_ completion: Subscribers.Completion<Failure>, of hedge: Int) {
    var rest: State?
    let part: Part = lock.withLock {
      switch state.phase {
      case .won(hedge, _):
        rest = endLocked(isCancelled: false)
        return .winner
      case .racing:
        guard state.racers.removeValue(forKey: hedge) != nil else { return .unwanted }
        guard case .finished = completion else { return .racer }
        rest = endLocked(isCancelled: false)
        return .racer
      case .won, .over(isCancelled: false): return .loser
      case .ready, .over(isCancelled: true): return .unwanted
      }
    }
    switch (part, completion) {
    case (.racer, .failure(let error)): tell(.failed(hedge, error))
    case (.loser, .failure(let error)): DroppedErrors.report(error, by: description)
    case (.racer, .finished):
      tell(.won(hedge))
      if let rest { stop(rest) }
      rest?.ends?.downstream.receive(completion: completion)
    case (.winner, _): rest?.ends?.downstream.receive(completion: completion)
    case (.loser, .finished), (.unwanted, _): break
    }
  }

  /// Ends whatever goes on; with the lock held.
  ///
  /// - Returns: The state before, for the first caller; it is to be released with the lock open.
  private func endLocked(isCancelled: Bool) -> State? {
    if case .over = state.phase { return nil }
    let rest = state
    state.phase = .over(isCancelled: isCancelled)
    state.ends = nil
    state.racers = [:]
    state.timer = nil
    return rest
  }

  /// Stops the timer and all attempts of a state that is no more, the winner too.
  private func stop(_ rest: State) {
    rest.timer?.timer?.cancel()
    for subscription in rest.racers.values { subscription?.cancel() }
    if case .won(_, let winner) = rest.phase { winner.cancel() }
  }
}

// MARK: - The machine

extension HedgeExecution {
  /// Hands the machine something new; whoever is at it already goes on with this.
  ///
  /// An attempt that fails while it is being subscribed to is news like any other: no recursion.
  private func tell(_ news: News) {
    lock.withLock { state.news.append(news) }
    work()
  }

  private func work() {
    let isFree = lock.withLock {
      defer { state.isWorking = true }
      return !state.isWorking
    }
    guard isFree else { return }
    while let news = nextNews() { act(on: news) }
  }

  private func nextNews() -> News? {
    lock.withLock {
      state.isWorking = !state.news.isEmpty
      return state.isWorking ? state.news.removeFirst() : nil
    }
  }

  private func act(on news: News) {
    let now = time.now - start
    let step: HedgeMachine<Failure>.Step
    switch news {
    case .begin: step = machine.begin(now: now)
    case .watch: step = machine.watch(now: now)
    case .timeHasCome(let due):
      if timerDue == due { timerDue = nil }
      // A scheduler whose time stands still, or that is early by its tolerance, has let this much time pass all the same.
      step = machine.timeHasCome(now: max(now, due))
    case .failed(let hedge, let error): step = machine.failed(hedge, with: error, now: now)
    case .won(let hedge):
      machine.won(hedge, now: now)
      return
    case .cancelled:
      machine.cancel()
      return
    }
    if let failure = step.failure { return end(with: failure) }
    for launch in step.launches { subscribe(launch) }
    if machine.due != timerDue { setTimer() }
  }

  private func end(with failure: Failure) {
    let rest: State? = lock.withLock {
      // Somebody may have won while the machine was asked.
      guard case .racing = state.phase else { return nil }
      return endLocked(isCancelled: false)
    }
    guard let rest else { return }
    stop(rest)
    rest.ends?.downstream.receive(completion: .failure(failure))
  }

  private func subscribe(_ launch: HedgeMachine<Failure>.Launch) {
    let recipe: Recipe? = lock.withLock {
      // Somebody may have won while the machine was asked.
      guard case .racing = state.phase else { return nil }
      state.racers[launch.hedge] = .some(nil)
      return state.ends?.recipe
    }
    guard let recipe else { return }
    launch.grant?.begin()
    recipe.make(launch.hedge).subscribe(Racer(launch.hedge, of: self))
  }

  private func setTimer() {
    let due = machine.due
    timerDue = due
    let (number, superseded): (Int?, (any Cancellable)?) = lock.withLock {
      let superseded = state.timer?.timer
      state.timer = nil
      guard case .racing = state.phase, due != nil else { return (nil, superseded) }
      state.lastTimer += 1
      state.timer = (state.lastTimer, nil)
      return (state.lastTimer, superseded)
    }
    superseded?.cancel()
    guard let number, let due else { return }
    let elapsed = time.now - start
    let target: any TimerTarget = self
    let timer = time.after(due - elapsed) { target.timerRang(number) }
    let isWanted = lock.withLock {
      guard state.timer?.number == number else { return false }
      state.timer?.timer = timer
      return true
    }
    if !isWanted { timer.cancel() }
  }

  func timerRang(_ number: Int) {
    let fired: (number: Int, timer: (any Cancellable)?)? = lock.withLock {
      guard let timer = state.timer, timer.number == number else { return nil }
      state.timer = nil
      return timer
    }
    guard let fired else { return }
    fired.timer?.cancel()
    tell(.timeHasCome(due: timerDue ?? .zero))
  }
}

extension Subscribers.Demand {
  /// What is left when one value of it has come.
  fileprivate var minusOne: Subscribers.Demand { self > .none ? self - 1 : .none }
}

/// The subscriber of one attempt.
private final class Racer<Upstream: Publisher, Downstream: Subscriber>: Subscriber,
  CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  private let hedge: Int
  private let execution: HedgeExecution<Upstream, Downstream>

  init(_ hedge: Int, of execution: HedgeExecution<Upstream, Downstream>) {
    self.hedge = hedge
    self.execution = execution
  }

  var description: String { "Hedged" }

  func receive(subscription: any Subscription) {
    execution.receive(subscription, of: hedge)
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand {
    execution.receive(input, of: hedge)
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    execution.receive(completion, of: hedge)
  }
}
