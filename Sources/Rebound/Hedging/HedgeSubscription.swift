import Combine
import StreamSupport

/// How far a race has come.
@usableFromInline
enum HedgePhase {
  case ready
  case racing
  case won(Int)
  case over(isCancelled: Bool)

  @inlinable var isRacing: Bool { if case .racing = self { true } else { false } }
  @inlinable var isWon: Bool { if case .won = self { true } else { false } }
}

/// What the machine of a race is to be told.
@usableFromInline
enum HedgeNews<Failure: Error> {
  /// The downstream waits for something.
  case watch
  case timeHasCome(due: Duration)
  case failed(Int, Failure)
  case won(Int)
  case cancelled
}

/// An attempt that races, or the winner; its subscription is `nil` until it has come.
@usableFromInline
struct HedgeAttempt {
  @usableFromInline let hedge: Int
  @usableFromInline var subscription: (any Subscription)?

  @inlinable
  init(hedge: Int) { self.hedge = hedge }
}

/// The attempts of one subscription, side by side until one of them wins.
///
/// The machine calls the policy's closures, so it is asked with the lock open, by one thread at a time: whoever drains the
/// news. What happens meanwhile is news, and that thread goes on with it.
@usableFromInline
final class HedgeSubscription<Upstream: Publisher, Downstream: Subscriber>:
  Subscription, TimerTarget, CustomStringConvertible, Sendable
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  @usableFromInline typealias Failure = Upstream.Failure
  @usableFromInline typealias Machine = HedgeMachine<Failure>

  @usableFromInline
  struct State: Drained {
    @usableFromInline var phase = HedgePhase.ready
    /// Both go when it is over.
    @usableFromInline var recipe: Publishers.Hedged<Upstream>?
    @usableFromInline var downstream: Downstream?
    @usableFromInline var news = Queue<HedgeNews<Failure>>()
    /// Entered from the start, since the primary attempt comes first.
    @usableFromInline var loop = DrainLoop(isEntered: true)
    @usableFromInline var owed = Subscribers.Demand.none
    @usableFromInline var attempts: [HedgeAttempt] = []
    /// A timer that fires under another number has been superseded.
    @usableFromInline var timer: (any Cancellable)?
    @usableFromInline var timerNumber = 0
    @usableFromInline var timerDue: Duration?

    @inlinable
    init(_ recipe: Publishers.Hedged<Upstream>, _ downstream: Downstream) {
      self.recipe = recipe
      self.downstream = downstream
    }

    @inlinable
    func index(of hedge: Int) -> Int? { attempts.firstIndex { $0.hedge == hedge } }

    @inlinable
    mutating func takeNext() -> HedgeNews<Failure>? {
      while let next = news.popFirst() {
        switch next {
        // Once somebody has won nobody is late.
        case .watch, .timeHasCome: if phase.isRacing { return next }
        case .failed, .won, .cancelled: return next
        }
      }
      return nil
    }

    /// Ends whatever goes on.
    ///
    /// - Returns: The state before, for the first caller; it is to be released with the lock open.
    @inlinable
    mutating func end(isCancelled: Bool) -> State? {
      if case .over = phase { return nil }
      let rest = self
      phase = .over(isCancelled: isCancelled)
      (recipe, downstream, attempts, timer) = (nil, nil, [], nil)
      return rest
    }

    /// Stops the timer and all attempts of a state that is no more.
    @inlinable
    func stop() {
      timer?.cancel()
      for attempt in attempts { attempt.subscription?.cancel() }
    }
  }

  @usableFromInline let state: Locked<State>
  @usableFromInline let time: TimeSource
  /// Where the subscription was made; hedges are subscribed to on other threads.
  @usableFromInline let deadline: Deadline?
  // Touched by whoever is in the loop of the state.
  @usableFromInline nonisolated(unsafe) var machine: Machine

  @inlinable
  init(_ recipe: Publishers.Hedged<Upstream>, downstream: Downstream) {
    time = recipe.time
    deadline = Deadline.current
    machine = Machine(recipe.policy)
    state = Locked(State(recipe, downstream))
  }

  @usableFromInline var description: String { "Hedged" }

  @inlinable
  func begin() {
    let isAwaited: Bool? = state.withLock { state in
      guard case .ready = state.phase else { return nil }
      state.phase = .racing
      // Here, since a request from another thread must not be told before it.
      if state.owed > .none { state.news.append(.watch) }
      return state.owed > .none
    }
    guard let isAwaited else { return }
    machine.begin(isAwaited: isAwaited, now: time.now)
    subscribe(0)
    state.drainEntered(act)
  }

  // MARK: What the downstream asks

  @inlinable
  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    var begins = false
    let attempts: [HedgeAttempt] = state.withLock { state in
      begins = state.owed == .none && state.phase.isRacing
      state.owed += demand
      if case .won = state.phase { return state.attempts }
      return begins ? state.attempts : []
    }
    for attempt in attempts { attempt.subscription?.request(begins ? .max(1) : demand) }
    if begins { tell(.watch) }
  }

  @inlinable
  func cancel() {
    guard let rest = state.withLock({ $0.end(isCancelled: true) }) else { return }
    rest.stop()
    tell(.cancelled)
    withExtendedLifetime(rest) {}
  }

  // MARK: What an attempt tells

  @inlinable
  func receive(_ subscription: any Subscription, of hedge: Int) {
    let owed: Subscribers.Demand? = state.withLock { state in
      guard state.phase.isRacing, let index = state.index(of: hedge), state.attempts[index].subscription == nil
      else { return nil }
      state.attempts[index].subscription = subscription
      return state.owed
    }
    guard let owed else { return subscription.cancel() }
    if owed > .none { subscription.request(.max(1)) }
  }

  @inlinable
  func receive(_ input: Upstream.Output, of hedge: Int) -> Subscribers.Demand {
    var losers: State?
    // What is owed beyond the one value that each was asked for; whatever is requested from here on goes to the winner by
    // itself.
    var rest = Subscribers.Demand.none
    let downstream: Downstream? = state.withLock { state in
      guard state.owed > .none else { return nil }
      switch state.phase {
      case .won(hedge): break
      case .racing:
        guard let index = state.index(of: hedge), state.attempts[index].subscription != nil else { return nil }
        var others = state
        others.attempts.remove(at: index)
        losers = others
        state.attempts = [state.attempts[index]]
        state.timer = nil
        state.phase = .won(hedge)
        rest = state.owed - 1
      case .ready, .won, .over: return nil
      }
      state.owed -= 1
      return state.downstream
    }
    guard let downstream else { return .none }
    if let losers {
      tell(.won(hedge))
      losers.stop()
      // Whoever hears of it may cancel.
      guard state.withLock({ $0.phase.isWon }) else { return .none }
    }
    let more = downstream.receive(input)
    guard more > .none || rest > .none else { return .none }
    let isRunning = state.withLock { state in
      guard case .won = state.phase else { return false }
      state.owed += more
      return true
    }
    return isRunning ? more + rest : .none
  }

  @inlinable
  func receive(_ completion: Subscribers.Completion<Failure>, of hedge: Int) {
    var news: HedgeNews<Failure>?
    var late: Failure?
    var losers: State?
    var rest: State? = state.withLock { state in
      switch state.phase {
      case .won(hedge):
        // It has ended: there is nothing to cancel.
        state.attempts = []
        return state.end(isCancelled: false)
      case .racing:
        guard let index = state.index(of: hedge) else { return nil }
        state.attempts.remove(at: index)
        if case .failure(let error) = completion {
          news = .failed(hedge, error)
          return nil
        }
        news = .won(hedge)
        losers = state
        (state.attempts, state.timer, state.phase) = ([], nil, .won(hedge))
      case .won, .over(isCancelled: false):
        if case .failure(let error) = completion { late = error }
      case .ready, .over(isCancelled: true): break
      }
      return nil
    }
    if let late { DroppedErrors.report(late, by: description) }
    if let news { tell(news) }
    if let losers {
      losers.stop()
      // Unless whoever has heard of it has cancelled.
      rest = state.withLock { $0.end(isCancelled: false) }
    }
    rest?.stop()
    rest?.downstream?.receive(completion: completion)
  }

  // MARK: The machine

  /// Hands the machine something new; whoever is at it already goes on with this.
  ///
  /// An attempt that fails while it is being subscribed to is news like any other: no recursion.
  @inlinable
  func tell(_ news: HedgeNews<Failure>) {
    state.drain(after: { $0.news.append(news) }, act)
  }

  @inlinable
  func act(on news: HedgeNews<Failure>) {
    let step: Machine.Step
    switch news {
    case .watch: step = machine.watch(now: time.now)
    // A scheduler whose time stands still, or that is early by its tolerance, has let this much time pass all the same.
    case .timeHasCome(let due): step = machine.timeHasCome(now: max(time.now, due))
    case .failed(_, let error) where isAbandonment(error, under: deadline): return abandon(with: error)
    case .failed(let hedge, let error): step = machine.failed(hedge, with: error, now: time.now)
    case .won(let hedge): return machine.won(hedge, now: time.now)
    case .cancelled: return machine.cancel()
    }
    if let failure = step.failure { return end(with: failure) }
    for launch in step.launches { subscribe(launch.hedge, beginning: launch.begin) }
    setTimer(machine.due)
  }

  /// An attempt has ended with a cancel inside of it: no other takes its place.
  @usableFromInline
  func abandon(with error: Failure) {
    // Who has won is told of next.
    guard let rest = state.withLock({ $0.phase.isRacing ? $0.end(isCancelled: false) : nil }) else { return }
    machine.cancel()
    rest.stop()
    rest.downstream?.receive(completion: .failure(error))
  }

  @inlinable
  func end(with failure: Failure) {
    // Somebody may have won while the machine was asked.
    let rest = state.withLock { $0.phase.isRacing ? $0.end(isCancelled: false) : nil }
    rest?.stop()
    rest?.downstream?.receive(completion: .failure(failure))
  }

  @inlinable
  func subscribe(_ hedge: Int, beginning begin: () -> Void = {}) {
    let recipe: Publishers.Hedged<Upstream>? = state.withLock { state in
      // Somebody may have won while the machine was asked.
      guard state.phase.isRacing else { return nil }
      state.attempts.append(HedgeAttempt(hedge: hedge))
      return state.recipe
    }
    guard let recipe else { return }
    begin()
    let subscriber = HedgeAttemptSubscriber(hedge, of: self)
    if hedge == 0 {
      // Where the subscription is made.
      recipe.make(hedge).subscribe(subscriber)
    } else {
      Deadline.replaced(by: deadline) { recipe.make(hedge).subscribe(subscriber) }
    }
  }

  @usableFromInline
  func setTimer(_ due: Duration?) {
    var number: Int?
    let superseded: (any Cancellable)? = state.withLock { state in
      guard state.phase.isRacing, due != state.timerDue else { return nil }
      state.timerDue = due
      state.timerNumber += 1
      number = state.timerNumber
      return state.timer.take()
    }
    superseded?.cancel()
    guard let number, let due else { return }
    let timer = time.ring(self, number, .at(due))
    let isWanted = state.withLock { state in
      guard state.phase.isRacing, state.timerNumber == number, state.timerDue != nil else { return false }
      state.timer = timer
      return true
    }
    if !isWanted { timer.cancel() }
  }

  func timerRang(_ number: Int) {
    var due: Duration?
    let fired: (any Cancellable)? = state.withLock { state in
      guard state.timerNumber == number else { return nil }
      due = state.timerDue.take()
      return state.timer.take()
    }
    fired?.cancel()
    if let due { tell(.timeHasCome(due: due)) }
  }
}
