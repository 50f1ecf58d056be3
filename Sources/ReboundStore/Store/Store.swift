import Combine
import Dispatch
import Rebound

/// Holds a state that all may read and only a reducer changes, in answer to one action after the other.
///
///     let store = Store(
///       initialState: AppState(),
///       reducer: appReducer,
///       middlewares: [animals(service)],
///       scheduler: DispatchQueue.main
///     )
///     store.$state.map(\.current).sink { show($0) }.store(in: &subscriptions)
///     store.dispatch(.fetch)
///
/// For each action, in this order: the reducer changes the state; the history writes it down; `state` is published; the
/// observers, the middlewares and the reactions are called in the order in which they stand. Every one of them is asked
/// about every action, whatever the others return.
///
/// An action that is sent meanwhile, from a reducer, a middleware, a subscriber or an effect, waits until all that is
/// done; nothing is ever nested, and any number of actions that follow each other needs the same stack.
///
/// - Threads: Everything happens on the scheduler, the main queue unless told otherwise. Actions may be sent from any
///   thread: those of one thread keep their order, and none is lost. On the main queue, an action that is sent from there
///   is done before `dispatch` returns; in all other cases the scheduler is asked for a run. A scheduler that does
///   several things at a time is fine, too: the store still does one.
/// - Time: Effects wait by the store's time. It is the current one (`TimeSource.current`) of all that the store calls, so
///   what is made or subscribed to there, and policies in ``Effect/task(_:)``, wait by it without being told.
///
/// Actions that were sent are still done when the last reference to the store goes; effects are cancelled.
public final class Store<State, Action>: ObservableObject {
  /// The present state, published before it is there, as `@Published` does.
  ///
  /// - Threads: Changed on the scheduler. Apple's `@Published` wants it read there, too.
  @Published public private(set) var state: State

  /// `nil` in a store that stands for a part of another.
  private var engine: StoreEngine<State, Action>?
  private var forward: (Action) -> Void = { _ in }
  private var parts: Set<AnyCancellable> = []

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - initialState: The state before the first action.
  ///   - reducer: How the state answers actions.
  ///   - middlewares: What is to happen because of actions, as publishers.
  ///   - reactions: What is to happen because of actions, as effects with ids.
  ///   - observers: Who is told of every action and what it did.
  ///   - history: How to keep the actions, for ``jump(to:)`` and ``session(redacting:)``; `nil` keeps none.
  ///   - scheduler: Where everything happens.
  ///   - time: By which effects wait; `nil` is that of the scheduler, if it has one of its own, such as one for tests,
  ///     and otherwise `TimeSource.current`.
  public init<Context: Scheduler>(
    initialState: State,
    reducer: Reducer<State, Action>,
    middlewares: [Middleware<State, Action>] = [],
    reactions: [Reaction<State, Action>] = [],
    observers: [TransitionObserver<State, Action>] = [],
    history: HistoryPolicy? = nil,
    scheduler: Context = DispatchQueue.main,
    time: TimeSource? = nil
  ) {
    _state = Published(initialValue: initialState)
    engine = StoreEngine(
      state: initialState,
      reducer: reducer,
      middlewares: middlewares,
      reactions: reactions,
      observers: observers,
      history: history.map { History(initialState: initialState, reducer: reducer, policy: $0) },
      home: Home(scheduler, time: time),
      publish: { [weak self] in self?.state = $0 }
    )
  }

  /// Makes a store whose reducer is a function.
  public convenience init<Context: Scheduler>(
    initialState: State,
    reducer: @escaping (inout State, Action) -> Void,
    middlewares: [Middleware<State, Action>] = [],
    reactions: [Reaction<State, Action>] = [],
    observers: [TransitionObserver<State, Action>] = [],
    history: HistoryPolicy? = nil,
    scheduler: Context = DispatchQueue.main,
    time: TimeSource? = nil
  ) {
    self.init(
      initialState: initialState,
      reducer: .confined(reducer),
      middlewares: middlewares,
      reactions: reactions,
      observers: observers,
      history: history,
      scheduler: scheduler,
      time: time
    )
  }

  /// Makes a store that stands for a part of another.
  init(part state: State, of changes: AnyPublisher<State, Never>, forward: @escaping (Action) -> Void) {
    _state = Published(initialValue: state)
    self.forward = forward
    changes.sink { [weak self] in self?.state = $0 }.store(in: &parts)
  }

  deinit {
    engine?.shutDown()
  }

  /// Sends an action to the reducer, behind those that wait already.
  ///
  /// From any thread. It returns when the action is done, if it is called on the main queue, the store lives there, and no
  /// other action is being done; otherwise at once.
  public func dispatch(_ action: Action) {
    if let engine { engine.send(action) } else { forward(action) }
  }

  /// Sends an action to the reducer; the same as ``dispatch(_:)``.
  public func send(_ action: Action) {
    dispatch(action)
  }

  /// How many effects run or wait; zero in a store that stands for a part of another.
  public var effectCount: Int { engine?.effectCount ?? 0 }

  /// What is remembered about effects besides those that run.
  package var effectMemory: Int { engine?.effectMemory ?? 0 }

  // MARK: History

  /// The actions so far, and where in them the present state stands; `nil` if none are kept.
  public var history: History<State, Action>? { engine?.history }

  /// Goes to the state after that many actions, as if the others had not come yet.
  ///
  /// Nothing but the reducer runs; all effects that run are cancelled, for they belong to a future that is open again. The
  /// actions behind are kept until the next one takes their place. Without a history, or outside it, nothing happens.
  ///
  /// - Parameter position: How many actions, from the start of the history.
  public func jump(to position: Int) {
    engine?.move { $0.jump(to: position) }
  }

  /// Goes one action back.
  public func undo() {
    engine?.move { $0.jump(to: $0.position - 1) }
  }

  /// Goes one action on, if there is one that was undone.
  public func redo() {
    engine?.move { $0.jump(to: $0.position + 1) }
  }

  /// Starts again from the initial state, and takes all actions of a session, without effects.
  ///
  /// The store must keep a history; otherwise nothing happens.
  public func replay(_ session: Session<Action>) {
    engine?.move { $0.replay(session) }
  }

  /// The actions up to the present state.
  ///
  /// - Parameter redact: Takes secrets out of an action. It must return an action that makes the same of the state, but for
  ///   the secret.
  /// - Throws: ``InvalidSession`` if the store keeps no history, or has forgotten its beginning.
  public func session(redacting redact: (Action) -> Action = { $0 }) throws(InvalidSession) -> Session<Action> {
    guard let history else { throw .noHistory }
    return try history.session(redacting: redact)
  }
}

// Whatever thread sends, everything is done by one queue; what crosses threads is Sendable.
extension Store: @unchecked Sendable where State: Sendable, Action: Sendable {}
