/// Who does what several threads leave to be done: one of them at a time, piece by piece, until nothing is left.
///
/// It stands in a state that a lock guards, beside what is left there. Whoever leaves something enters: either nobody is at
/// work, and the caller is from now on, or somebody is, who sees what was left before it leaves. So the pieces are done with
/// the lock open, none inside of another, and a piece that leaves more does not deepen the stack.
///
///     struct State: Drained {
///       var loop = DrainLoop()
///       var waiting = Queue<Event>()
///       mutating func takeNext() -> Event? { waiting.popFirst() }
///     }
///
///     state.drain(after: { $0.waiting.append(event) }) { event in tell(event) }
///
/// RxJava calls it a queue-drain loop; with a queue beside it, it is the mailbox of an actor.
@frozen
public struct DrainLoop: Sendable {
  @usableFromInline var isEntered: Bool

  /// Makes a loop.
  ///
  /// - Parameter isEntered: Whether somebody is at work from the start.
  @inlinable
  public init(isEntered: Bool = false) {
    self.isEntered = isEntered
  }

  /// Begins to work, unless somebody is at work already.
  ///
  /// - Returns: Whether the caller is to work; otherwise it has left all to somebody else.
  @inlinable @inline(__always)
  public mutating func enter() -> Bool {
    defer { isEntered = true }
    return !isEntered
  }

  /// Ends the work; whoever comes next is to work.
  @inlinable @inline(__always)
  public mutating func leave() {
    isEntered = false
  }

  /// Goes on with the next piece; without one the caller has left, and whoever comes next is to work.
  ///
  /// - Parameter piece: What was taken out of the state, with the lock held since then.
  @inlinable @inline(__always)
  public mutating func next<Piece>(_ piece: Piece?) -> Piece? {
    isEntered = piece != nil
    return piece
  }
}

/// A state that holds work, of which one thread at a time does a piece.
public protocol Drained {
  /// What is done at once, with the lock open.
  associatedtype Piece
  /// Who is at work.
  var loop: DrainLoop { get set }
  /// Takes out what is to be done next; `nil` if there is nothing that may be done now.
  mutating func takeNext() -> Piece?
}

extension Locked where State: Drained {
  /// Does what there is to do, unless somebody is at work, who does it.
  ///
  /// - Parameters:
  ///   - change: What is left to be done, or makes that possible; called with the lock held.
  ///   - perform: Does a piece; called with the lock open.
  @inlinable @inline(__always)
  public func drain(after change: (inout State) -> Void = { _ in }, _ perform: (State.Piece) -> Void) {
    var next = withLock { state in
      change(&state)
      return state.loop.enter() ? state.loop.next(state.takeNext()) : nil
    }
    while let piece = next {
      perform(piece)
      next = withLock { $0.loop.next($0.takeNext()) }
    }
  }

  /// Does what there is to do, for a caller who has entered the loop.
  ///
  /// - Parameter perform: Does a piece; called with the lock open.
  @inlinable @inline(__always)
  public func drainEntered(_ perform: (State.Piece) -> Void) {
    while let piece = withLock({ $0.loop.next($0.takeNext()) }) { perform(piece) }
  }
}
