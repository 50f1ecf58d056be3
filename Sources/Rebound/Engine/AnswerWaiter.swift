import Combine
import StreamSupport

/// An execution that waits for somebody's answer, told by a waker when it comes.
@usableFromInline
final class AnswerWaiter<Answer: Sendable>: Sendable {
  private struct State {
    var answer: Answer?
    var waker: Waker?
    var pending: (any Cancellable)?
    var isOver = false
  }

  private let state = Locked(State())

  /// Keeps what is to be cancelled if nobody waits any more.
  func keep(_ pending: any Cancellable) {
    let isOver = state.withLock { state in
      if !state.isOver { state.pending = pending }
      return state.isOver
    }
    if isOver { pending.cancel() }
  }

  /// The answer has come; only the first one counts.
  ///
  /// - Returns: Whether anybody waits for it.
  @discardableResult
  func answer(_ answer: Answer) -> Bool {
    let (isWanted, waker): (Bool, Waker?) = state.withLock { state in
      guard state.answer == nil, !state.isOver else { return (false, nil) }
      state.answer = answer
      return (true, state.waker)
    }
    waker?.wake()
    return isWanted
  }

  /// Has somebody woken when the answer comes, or at once if it has come.
  func wait(_ waker: Waker) {
    let isAnswered = state.withLock { state in
      state.waker = waker
      return state.answer != nil
    }
    if isAnswered { waker.wake() }
  }

  /// The answer, if it has come; then it is over.
  func take() -> Answer? {
    let before: State? = state.withLock { state in
      guard state.answer != nil else { return nil }
      let before = state
      state = State(isOver: true)
      return before
    }
    return before?.answer
  }

  /// Nobody waits any more.
  ///
  /// - Returns: What was answered before; whoever answers later is told that nobody waits.
  func abandon() -> Answer? {
    let before = state.exchange(State(isOver: true))
    before.pending?.cancel()
    return before.answer
  }
}
