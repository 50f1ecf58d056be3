import Combine
import StreamSupport

/// An execution that waits for somebody's answer, told by a waker when it comes.
@usableFromInline
final class AnswerWaiter<Answer: Sendable>: Sendable {
  @usableFromInline struct State {
    @usableFromInline var answer: Answer?
    @usableFromInline var waker: Waker?
    @usableFromInline var pending: (any Cancellable)?
    @usableFromInline var isOver = false

    @inlinable
    init(isOver: Bool = false) { self.isOver = isOver }
  }

  @usableFromInline let state = Locked(State())

  @inlinable
  init() {}

  /// Keeps what is to be cancelled if nobody waits any more.
  @inlinable
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
  @discardableResult @inlinable
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
  @inlinable
  func wait(_ waker: Waker) {
    let isAnswered = state.withLock { state in
      state.waker = waker
      return state.answer != nil
    }
    if isAnswered { waker.wake() }
  }

  /// The answer, if it has come; then it is over.
  @inlinable
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
  @inlinable
  func abandon() -> Answer? {
    let before = state.exchange(State(isOver: true))
    before.pending?.cancel()
    return before.answer
  }
}
