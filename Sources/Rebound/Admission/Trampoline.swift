import StreamSupport

/// Does work one piece after the other where each piece may cause the next, on the same stack.
///
/// One who leaves lets the next one in, who may end at once and let in another: without this, as many frames as there
/// were waiting.
package final class Trampoline: Sendable {
  private struct State {
    var waiting: [() -> Void]
    var next = 0
    var isOpen = true
  }

  /// That of the loop that this code runs in, if any.
  @TaskLocal private static var current: Trampoline?

  /// The task that the loop runs in, by its hash value; `nil` outside of tasks.
  private let task: Int?
  private let state: Locked<State>

  private init(_ work: [() -> Void]) {
    state = Locked(State(waiting: work))
    task = Self.currentTask
  }

  /// Does the work now, or, from inside such work, right after it.
  package static func run(_ work: [() -> Void]) {
    guard !work.isEmpty else { return }
    // A task that was started from inside has inherited the loop, but runs beside it, or after it has ended: it must not
    // wait for what the loop is at.
    if let current, current.task == currentTask, current.add(work) { return }
    let trampoline = Trampoline(work)
    $current.withValue(trampoline) {
      while let piece = trampoline.nextPiece() { piece() }
    }
  }

  private static var currentTask: Int? {
    withUnsafeCurrentTask { $0?.hashValue }
  }

  private func add(_ work: [() -> Void]) -> Bool {
    state.withLock { state in
      guard state.isOpen else { return false }
      state.waiting += work
      return true
    }
  }

  private func nextPiece() -> (() -> Void)? {
    // What was done is released by the one who did it, and what is left of the list with the lock open.
    var done: [() -> Void] = []
    let piece: (() -> Void)? = state.withLock { state in
      guard state.next < state.waiting.count else {
        state.isOpen = false
        swap(&done, &state.waiting)
        return nil
      }
      defer { state.next += 1 }
      if state.next > 64 {
        done = Array(state.waiting[..<state.next])
        state.waiting.removeFirst(state.next)
        state.next = 0
      }
      return state.waiting[state.next]
    }
    withExtendedLifetime(done) {}
    return piece
  }
}
