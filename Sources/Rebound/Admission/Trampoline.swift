import StreamSupport

/// Does work one piece after the other where each piece may cause the next, on the same stack.
///
/// One who leaves lets the next one in, who may end at once and let in another: without this, as many frames as there
/// were waiting.
///
/// Unchecked, because the lock guards what waits.
package final class Trampoline: @unchecked Sendable {
  /// That of the loop that this code runs in, if any.
  @TaskLocal private static var current: Trampoline?

  /// The task that the loop runs in, by its hash value; `nil` outside of tasks.
  private let task: Int?
  private let lock = Lock()
  private var waiting: [() -> Void] = []
  private var next = 0
  private var isOpen = true

  private init(_ work: [() -> Void]) {
    waiting = work
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
    lock.withLock {
      guard isOpen else { return false }
      waiting += work
      return true
    }
  }

  private func nextPiece() -> (() -> Void)? {
    // What was done is released by the one who did it, and what is left of the list with the lock open.
    var done: [() -> Void] = []
    let piece: (() -> Void)? = lock.withLock {
      guard next < waiting.count else {
        isOpen = false
        swap(&done, &waiting)
        return nil
      }
      defer { next += 1 }
      if next > 64 {
        done = Array(waiting[..<next])
        waiting.removeFirst(next)
        next = 0
      }
      return waiting[next]
    }
    withExtendedLifetime(done) {}
    return piece
  }
}
