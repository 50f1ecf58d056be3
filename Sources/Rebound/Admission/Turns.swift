import StreamSupport

/// Turns of work that others may extend for ever, on threads that are not its own.
///
/// The next turn is asked for, so that whoever else uses the thread comes between. Where it comes at once, inside of the
/// asking, as on the immediate scheduler, the work just goes on: no turn stands on another on the stack.
///
/// One thread at a time is at work, as a `DrainLoop` beside what is to be done sees to.
package final class Turns: Sendable {
  private struct State {
    var isAsking = false
    /// Whether the turn has come while it was asked for.
    var hasCome = false
  }

  private let state = Locked(State())

  package init() {}

  /// Works, turn by turn.
  ///
  /// - Parameters:
  ///   - work: Does the work of one turn, and says whether some is left.
  ///   - ask: Has a closure called soon, or at once.
  package func take(
    _ work: @escaping @Sendable () -> Bool,
    asking ask: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    while work() {
      state.withLock { $0.isAsking = true }
      ask { [self] in
        let goesOn = state.withLock { state in
          state.hasCome = state.isAsking
          return state.isAsking
        }
        if !goesOn { take(work, asking: ask) }
      }
      guard state.exchange(State()).hasCome else { return }
    }
  }
}
