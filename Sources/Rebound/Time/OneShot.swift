import Combine
import StreamSupport

/// Fires at the first of many times, and stops the timer that would go on; after a cancel never.
///
/// What it does need not be `Sendable`: it is done once, by whoever fires first.
@usableFromInline
package final class OneShot: Cancellable, Sendable {
  private struct State {
    var action: (() -> Void)?
    var timer: (any Cancellable)?
  }

  private let state: Locked<State>

  @usableFromInline
  package init(_ action: @escaping () -> Void) {
    state = Locked(State(action: action))
  }

  @usableFromInline
  package func keep(_ timer: any Cancellable) {
    let isWaiting = state.withLock { state in
      if state.action != nil { state.timer = timer }
      return state.action != nil
    }
    if !isWaiting { timer.cancel() }
  }

  package func fire() { stop().action?() }

  @usableFromInline
  package func cancel() { withExtendedLifetime(stop()) {} }

  private func stop() -> State {
    let before = state.exchange(State())
    before.timer?.cancel()
    return before
  }
}
