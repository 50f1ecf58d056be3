import Dispatch
import StreamSupport
import Synchronization

/// What threads that meet at a ``CombiningLock`` leave there: events to be dealt with, and themselves, asleep.
///
/// Whoever adds something marks the lock under `lock` while another thread is inside, so that thread can't leave without
/// coming here; or it wipes the mark away, and comes at once. While somebody sleeps, the lock is marked, or one that was
/// woken, or that has wiped the mark away, is on its way.
final class Contention {
  private let lock = Lock()
  // Guarded by `lock`, in the order in which they came.
  @exclusivity(unchecked) private var sleepers: [DispatchSemaphore] = []
  @exclusivity(unchecked) private var delegated = Queue<() -> Void>()
  // Changed under `lock`: how much is delegated, and whether some of it is being done.
  private let delegatedCount = Atomic<Int>(0)
  private let isAtWork = Atomic<Bool>(false)

  // In this order: what is not there any more is being done.
  var isDelegating: Bool { hasMore || isWorking }
  var hasMore: Bool { delegatedCount.load(ordering: .sequentiallyConsistent) > 0 }
  var isWorking: Bool { isAtWork.load(ordering: .sequentiallyConsistent) }

  /// Leaves an event to the thread inside; true if there was none, and the caller is inside now.
  func delegate(_ event: @escaping () -> Void, to owner: borrowing Atomic<UInt>, by thread: UInt) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if takeOrMark(owner, as: thread) { return true }
    delegated.append(event)
    delegatedCount.store(delegated.count, ordering: .sequentiallyConsistent)
    return false
  }

  /// If something is left to be done here, takes the lock, or marks it if another thread is inside; says whether it took it.
  func takeIfLeft(_ owner: borrowing Atomic<UInt>, by thread: UInt) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return (!delegated.isEmpty || !sleepers.isEmpty) && takeOrMark(owner, as: thread)
  }

  /// Sleeps until nobody is inside, and enters.
  func wait(for owner: borrowing Atomic<UInt>, as thread: UInt) {
    let bell = DispatchSemaphore(value: 0)
    var wasWoken = false
    while true {
      lock.lock()
      if takeOrMark(owner, as: thread) {
        // Who sleeps on is this one's to wake.
        if !sleepers.isEmpty { owner.store(thread | CombiningLock.mark, ordering: .sequentiallyConsistent) }
        lock.unlock()
        return
      }
      // One that somebody has overtaken is still the first.
      if wasWoken { sleepers.insert(bell, at: 0) } else { sleepers.append(bell) }
      lock.unlock()
      bell.wait()
      wasWoken = true
    }
  }

  /// Does all that is delegated, the oldest first, also what comes meanwhile.
  func work() {
    while let next = takeDelegated() { next() }
  }

  /// Opens the lock of the thread inside, and wakes the first who waits; false if something was delegated meanwhile.
  func open(_ owner: borrowing Atomic<UInt>) -> Bool {
    lock.lock()
    guard delegated.isEmpty else {
      lock.unlock()
      return false
    }
    let next = sleepers.isEmpty ? nil : sleepers.removeFirst()
    owner.store(0, ordering: .sequentiallyConsistent)
    lock.unlock()
    next?.signal()
    return true
  }

  /// Takes the lock if nobody is inside, or else marks it, and says whether it took it.
  ///
  /// Called under `lock`.
  private func takeOrMark(_ owner: borrowing Atomic<UInt>, as thread: UInt) -> Bool {
    var current = owner.load(ordering: .relaxed)
    while true {
      let desired = current == 0 ? thread : current | CombiningLock.mark
      let (exchanged, original) = owner.compareExchange(
        expected: current,
        desired: desired,
        ordering: .sequentiallyConsistent
      )
      if exchanged { return current == 0 }
      current = original
    }
  }

  private func takeDelegated() -> (() -> Void)? {
    lock.lock()
    defer { lock.unlock() }
    let next = delegated.popFirst()
    isAtWork.store(next != nil, ordering: .sequentiallyConsistent)
    delegatedCount.store(delegated.count, ordering: .sequentiallyConsistent)
    return next
  }
}
