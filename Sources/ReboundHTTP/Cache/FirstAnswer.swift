import Combine
import StreamSupport

/// The first of two answers: that of a storage, or of the timer that ends the wait for it.
final class FirstAnswer: Cancellable, Sendable {
  private struct State {
    var answer: (@Sendable (CachedCopy?) -> Void)?
    var timer: (any Cancellable)?
  }

  private let state: Locked<State>

  init(_ answer: @escaping @Sendable (CachedCopy?) -> Void) {
    state = Locked(State(answer: answer))
  }

  var isAwaited: Bool { state.withLock { $0.answer != nil } }

  /// Answers, if nothing has before.
  ///
  /// - Returns: Whether it was the first.
  @discardableResult
  func come(_ find: () -> CachedCopy?) -> Bool {
    let copy = find()
    let before = state.exchange(State())
    before.timer?.cancel()
    before.answer?(copy)
    return before.answer != nil
  }

  /// Keeps the timer until there is an answer.
  func keep(_ timer: any Cancellable) {
    let isAwaited = state.withLock { state in
      if state.answer != nil { state.timer = timer }
      return state.answer != nil
    }
    if !isAwaited { timer.cancel() }
  }

  func cancel() {
    let before = state.exchange(State())
    before.timer?.cancel()
  }
}
