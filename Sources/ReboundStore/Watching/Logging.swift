/// An observer that writes down every action, and what it changed.
///
///     Store(initialState: AppState(), reducer: appReducer, observers: [logging { logger.debug("\($0)") }])
///
/// An entry is text of several lines: the action, with `←` if an effect sent it, then each change of the state:
///
/// ```text
/// ← fetched("Dog")
///   animals.current: "Cat" → "Dog"
/// ```
///
/// - Parameters:
///   - redact: The text of an action; `nil` leaves the whole entry out. Secrets in the state are up to the types: of one
///     that has a `description` (`CustomStringConvertible`) nothing else is written, unless it says what it is made of
///     (`CustomReflectable`).
///   - sink: Takes an entry, on the store's scheduler.
public func logging<State, Action>(
  redacting redact: @escaping (Action) -> String? = { "\($0)" },
  to sink: @escaping (String) -> Void
) -> TransitionObserver<State, Action> {
  { transition in
    guard let action = redact(transition.action) else { return }
    let head = "\(transition.origin == .effect ? "←" : "→") \(action)"
    let changes = StateDiff.lines(from: transition.before, to: transition.after)
    sink(([head] + changes.map { "  \($0)" }).joined(separator: "\n"))
  }
}

/// A middleware that sees every error that comes by in an action, so that one place can tell of all of them.
///
///     let listener = errorListener(in: { (action: AppAction) in action.error }) { (error, state: AppState) in
///       .toast(error.localizedDescription)
///     }
///
/// - Parameters:
///   - error: The error that an action carries; `nil` for most.
///   - answer: The action that tells of it; `nil` for none, as for cancels. An action of its own that carries an error is
///     seen, too: answer it with `nil`, or it goes on for ever.
public func errorListener<State, Action>(
  in error: @escaping (Action) -> (any Error)?,
  _ answer: @escaping (any Error, State) -> Action?
) -> Reaction<State, Action> {
  { state, action in
    guard let error = error(action), !(error is CancellationError) else { return .none }
    return answer(error, state).map(Effect.send) ?? .none
  }
}
