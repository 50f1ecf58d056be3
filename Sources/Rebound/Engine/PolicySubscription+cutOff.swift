import Combine
import StreamSupport

// MARK: - What takes the place of an attempt that runs

extension PolicySubscription {
  /// Ends the attempt that runs, since the machine lets none run now; another begins when it says so.
  ///
  /// - Returns: Whether there is still something to wait with. An attempt that has ended meanwhile was first.
  func giveUpAttempt() -> Bool {
    lock.lock()
    guard !isOver, failure == nil, !pending.contains(.finish) else {
      lock.unlock()
      return false
    }
    phase = .idle
    let subscription = upstream.take()
    lock.unlock()
    subscription.cancel()
    return true
  }

  /// Leaves an end to whoever delivers a value just now, since one event goes down at a time; with the lock held.
  ///
  /// The caller is one of those who keep it waiting, until the upstream is cancelled.
  @usableFromInline
  func hold(_ completion: Subscribers.Completion<Failure>, for downstream: Downstream) {
    deliveries += 1
    heldEnd = ValueBox { downstream.receive(completion: completion) }
  }

  /// No longer keeps what comes next waiting: an end, which is delivered if nobody else does that, or an attempt in place of one
  /// that was given up.
  @usableFromInline
  func letEndCome() {
    lock.lock()
    deliveries -= 1
    let end = deliveries == 0 ? heldEnd.take() : nil
    let isMine = Applied.Machine.isTimed && deliveries == 0 && phase == .due && asking.enter()
    lock.unlock()
    end?.value()
    if isMine { work() }
  }
}
