import Dispatch
import StreamSupport
import Synchronization

/// Which thread waits at which ``CombiningLock``, all over the process.
///
/// Threads that wait for each other wait in a circle: each at a combining lock that the next one is inside of. Whoever is about
/// to fall asleep says so here first, and stays on the list until it is inside or backs off; so the one that closes a
/// circle finds all the others on the list, and looks who is inside *now*. It sees no circle where there is none: the
/// last of those that it finds waits at a combining lock that it is inside of itself, so that one sleeps on, and can't leave
/// the combining lock at which the one before it waits, and so on. Nor does a circle end before one of it backs off.
///
/// Only those come here that would sleep anyway.
///
/// Unchecked, because the lock guards all that changes.
final class WaitForGraph: @unchecked Sendable {
  static let shared = WaitForGraph()

  private struct Waiter {
    let semaphore: DispatchSemaphore
    /// Which thread is inside the combining lock where this one waits.
    ///
    /// The combining lock is borrowed as long as the thread waits there, and so is at its place.
    let holder: UnsafePointer<Atomic<UInt>>
    let canTurnBack: Bool
    var mustTurnBack = false
  }

  private let lock = Lock()
  // Guarded by `lock`.
  private var waiters: [UInt: Waiter] = [:]

  /// Notes that a thread is going to sleep at a combining lock.
  ///
  /// If that closes a circle, the thread has to back off; if it can't, another one of the circle that can is woken to
  /// do so.
  func add(_ thread: UInt, at holder: borrowing Atomic<UInt>, semaphore: DispatchSemaphore, canTurnBack: Bool) {
    lock.lock()
    defer { lock.unlock() }
    waiters[thread] = withUnsafePointer(to: holder) {
      Waiter(semaphore: semaphore, holder: $0, canTurnBack: canTurnBack)
    }
    guard let chosen = circle(through: thread).first(where: { waiters[$0]?.canTurnBack == true }) else { return }
    waiters[chosen]?.mustTurnBack = true
    waiters[chosen]?.semaphore.signal()
  }

  /// Notes that a thread does not wait any more.
  func remove(_ thread: UInt) {
    lock.lock()
    waiters[thread] = nil
    lock.unlock()
  }

  func mustTurnBack(_ thread: UInt) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return waiters[thread]?.mustTurnBack == true
  }

  // Called under the lock.
  private func circle(through thread: UInt) -> [UInt] {
    var found: [UInt] = []
    var current = thread
    // One that has just got in is on the list still, and seems to wait for itself.
    while found.count < waiters.count, let waiter = waiters[current] {
      found.append(current)
      current = waiter.holder.pointee.load(ordering: .sequentiallyConsistent)
      if current == thread { return found }
    }
    return []
  }
}
