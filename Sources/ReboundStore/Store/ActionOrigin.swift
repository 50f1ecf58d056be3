/// Where an action comes from.
public enum ActionOrigin: String, Hashable, Sendable, Codable {
  /// Someone sent it to the store.
  case sent
  /// An effect of an earlier action published it.
  case effect
}

/// One action that a store has taken, and what it did to the state.
public struct Transition<State, Action> {
  /// The action.
  public let action: Action
  /// Where it comes from.
  public let origin: ActionOrigin
  /// The state before.
  public let before: State
  /// The state after.
  public let after: State

  /// Describes one action that a store has taken.
  public init(action: Action, origin: ActionOrigin, before: State, after: State) {
    self.action = action
    self.origin = origin
    self.before = before
    self.after = after
  }
}

extension Transition: Sendable where State: Sendable, Action: Sendable {}

/// Somebody who is told of every action that a store has taken, after the reducer and before the middleware.
///
/// An action sent from inside is queued behind those that wait already.
public typealias TransitionObserver<State, Action> = (Transition<State, Action>) -> Void
