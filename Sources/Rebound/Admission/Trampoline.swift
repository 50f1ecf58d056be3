import StreamSupport

/// Does work one piece after the other where each piece may cause the next, on the same stack.
///
/// One who leaves lets the next one in, who may end at once and let in another: without this, as many frames as there
/// were waiting.
package final class Trampoline: Sendable {
  private struct State {
    var waiting = Queue<() -> Void>()
    var isOpen = true
  }

  /// That of the loop that this code runs in, if any.
  @TaskLocal private static var current: Trampoline?

  /// The task that the loop runs in, by its hash value; `nil` outside of tasks.
  private let task: Int?
  private let state = Locked(State())

  private init() {
    task = Self.currentTask
  }

  /// Does the work now, or, from inside such work, right after it.
  package static func run(_ work: [() -> Void]) {
    guard !work.isEmpty else { return }
    // A task that was started from inside has inherited the loop, but runs beside it, or after it has ended: it must not
    // wait for what the loop is at.
    if let current, current.task == currentTask, current.add(work) { return }
    let trampoline = Trampoline()
    _ = trampoline.add(work)
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
      for piece in work { state.waiting.append(piece) }
      return true
    }
  }

  private func nextPiece() -> (() -> Void)? {
    state.withLock { state in
      state.isOpen = !state.waiting.isEmpty
      return state.waiting.popFirst()
    }
  }
}
