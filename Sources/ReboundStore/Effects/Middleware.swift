import Combine

/// What is to happen because of an action: more actions, published now or later.
///
///     func animals(_ service: AnimalService) -> Middleware<AppState, AppAction> {
///       { state, action in
///         guard case .fetch = action else { return Empty().eraseToAnyPublisher() }
///         return service.animal()
///           .map { AppAction.fetched($0) }
///           .catch { Just(AppAction.failed($0)) }
///           .eraseToAnyPublisher()
///       }
///     }
///
/// It is called with the state after the reducer has answered the action. A failure is impossible by type: it has to be
/// made an action. `nil` or an empty publisher means that this middleware has nothing to do; the others are asked all the
/// same.
public typealias Middleware<State, Action> = (State, Action) -> AnyPublisher<Action, Never>?

/// What is to happen because of an action, as an ``Effect``: a ``Middleware`` whose effects have ids, can be cancelled,
/// debounced, throttled, and tried again.
public typealias Reaction<State, Action> = (State, Action) -> Effect<Action>

/// The same middleware for a part of a greater state and for one case of its actions.
///
/// - Parameters:
///   - middleware: What is to happen because of the part's actions.
///   - part: The part's state.
///   - path: The case that carries the part's actions.
public func scoped<State, Action, Whole, WholeAction>(
  _ middleware: @escaping Middleware<State, Action>,
  state part: @escaping (Whole) -> State,
  action path: CasePath<WholeAction, Action>
) -> Middleware<Whole, WholeAction> {
  { whole, action in
    guard let action = path.extract(action) else { return nil }
    return middleware(part(whole), action)?.map(path.embed).eraseToAnyPublisher()
  }
}

/// The same reaction for a part of a greater state and for one case of its actions.
///
/// - Parameters:
///   - reaction: What is to happen because of the part's actions.
///   - part: The part's state.
///   - path: The case that carries the part's actions.
public func scoped<State, Action, Whole, WholeAction>(
  reaction: @escaping Reaction<State, Action>,
  state part: @escaping (Whole) -> State,
  action path: CasePath<WholeAction, Action>
) -> Reaction<Whole, WholeAction> {
  { whole, action in
    guard let action = path.extract(action) else { return .none }
    return reaction(part(whole), action).map(path.embed)
  }
}
