import Combine
import StreamSupport

/// How a store works: takes one action after the other, asks the reducer, tells the observers, runs the effects.
///
/// Unchecked, because the queue does one job at a time, and only jobs touch the state and call what the store was given;
/// the runner is set before anybody else knows this object.
final class StoreEngine<State, Action>: @unchecked Sendable {
  private enum Job {
    case sent(Action)
    case published(Action, EffectScope)
    case work(() -> Void)
    case move((inout History<State, Action>) -> State?)
  }

  private let reducer: Reducer<State, Action>
  private let middlewares: [Middleware<State, Action>]
  private let reactions: [Reaction<State, Action>]
  private let observers: [TransitionObserver<State, Action>]
  private let publish: (State) -> Void
  private let jobs: JobQueue<Job>
  /// Made with a closure that knows this object weakly, so it comes last.
  private var runner: EffectRunner<Action>?

  private var state: State
  /// Also read from elsewhere.
  private let log: Locked<History<State, Action>?>

  init(
    state: State,
    reducer: Reducer<State, Action>,
    middlewares: [Middleware<State, Action>],
    reactions: [Reaction<State, Action>],
    observers: [TransitionObserver<State, Action>],
    history: History<State, Action>?,
    home: Home,
    publish: @escaping (State) -> Void
  ) {
    self.state = state
    self.reducer = reducer
    self.middlewares = middlewares
    self.reactions = reactions
    self.observers = observers
    self.publish = publish
    log = Locked(history)
    jobs = JobQueue(home: home)
    runner = EffectRunner(
      home: home,
      send: { [weak self] in self?.add(.published($0, $1)) },
      later: { [weak self] in self?.add(.work($0)) }
    )
  }

  var history: History<State, Action>? { log.withLock { $0 } }

  var effectCount: Int { runner?.count ?? 0 }

  var effectMemory: Int { runner?.memory ?? 0 }

  func send(_ action: Action) {
    add(.sent(action))
  }

  /// Moves in the history, cancels all effects, and publishes the state there.
  ///
  /// - Parameter change: Returns the new state; `nil` if there is no such place, and then nothing happens.
  func move(_ change: @escaping (inout History<State, Action>) -> State?) {
    add(.move(change))
  }

  func shutDown() {
    runner?.cancelAll()
  }

  private func add(_ job: Job) {
    jobs.add(job) { [self] in perform($0) }
  }

  private func perform(_ job: Job) {
    switch job {
    case .sent(let action): take(action, .sent)
    case .published(let action, let scope):
      if runner?.settle(scope) == true { take(action, .effect) }
    case .work(let work): work()
    case .move(let change):
      // A copy, since replaying asks the reducer, and the lock is for our own code only.
      guard var moved = history, let state = change(&moved) else { return }
      runner?.cancelAll()
      withExtendedLifetime(log.exchange(moved)) {}
      self.state = state
      publish(state)
    }
  }

  private func take(_ action: Action, _ origin: ActionOrigin) {
    let before = state
    reducer(&state, action)
    let after = state
    let forgotten = log.withLock { $0?.record(action, origin, resultingIn: after) }
    // Released with the lock open: actions and states may have deinits of their own.
    withExtendedLifetime(forgotten) {}
    publish(after)
    if !observers.isEmpty {
      let transition = Transition(action: action, origin: origin, before: before, after: after)
      for observer in observers { observer(transition) }
    }
    for middleware in middlewares {
      // One that has nothing to do does not keep the others from being asked.
      if let publisher = middleware(after, action) { runner?.run(.publisher(publisher)) }
    }
    for reaction in reactions { runner?.run(reaction(after, action)) }
  }
}
