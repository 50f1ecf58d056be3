import StreamSupport
import Synchronization

/// Events on their way through a scheduler, delivered one at a time and in the order in which they came.
///
/// Whoever posts an event schedules one job for it, and each job delivers the *oldest* event there is, inside the
/// combining lock. So nothing overtakes anything, though the jobs may: on a concurrent queue, or with equal due times.
///
/// Events come into an inbox, and go out of an outbox that takes over all of it when it is empty: so who posts and who
/// delivers seldom meet at the lock.
@usableFromInline
final class OrderedMailbox<Event> {
  /// Held while events go downstream; jobs that come meanwhile wait for it.
  @usableFromInline let combiningLock = CombiningLock()
  @usableFromInline let lock = Lock()
  // Both guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var inbox = Queue<Event>()
  @exclusivity(unchecked) @usableFromInline var isOver = false
  // Touched only inside the combining lock.
  @exclusivity(unchecked) @usableFromInline var outbox = Queue<Event>()
  // Whether what is in the outbox is to be dropped.
  @usableFromInline let isClosed = Atomic<Bool>(false)

  @inlinable
  init() {}

  /// Adds an event; a job for it is to be scheduled next.
  @inlinable @inline(__always)
  func post(_ event: Event) {
    lock.lock()
    if !isOver { inbox.append(event) }
    lock.unlock()
  }

  /// Adds an event and refuses all that come after it.
  @inlinable
  func postLast(_ event: Event) {
    lock.lock()
    if !isOver { inbox.append(event) }
    isOver = true
    lock.unlock()
  }

  /// Takes the oldest event out and runs `deliver` with it; does nothing if there is none left.
  ///
  /// Called by the jobs.
  @inlinable @inline(__always)
  func deliverOldest(_ deliver: (Event) -> Void) {
    combiningLock.enter()
    if outbox.count == 0 {
      lock.lock()
      swap(&inbox, &outbox)
      lock.unlock()
    }
    if isClosed.load(ordering: .acquiring) {
      dropOutbox()
    } else if let event = outbox.popFirst() {
      deliver(event)
    }
    combiningLock.leave()
  }

  /// Drops all events, also those to come.
  @usableFromInline
  func close() {
    lock.lock()
    isOver = true
    let dropped = inbox
    inbox = Queue()
    lock.unlock()
    // Outside the lock: values may run code of their own when they go.
    withExtendedLifetime(dropped) {}
    isClosed.store(true, ordering: .releasing)
    // If somebody is inside, the next job drops the outbox: every event in it has one.
    if combiningLock.tryEnter() {
      dropOutbox()
      combiningLock.leave()
    }
  }

  @usableFromInline
  func dropOutbox() {
    let dropped = outbox
    outbox = Queue()
    withExtendedLifetime(dropped) {}
  }
}

/// What goes through a ``OrderedMailbox``.
@frozen
@usableFromInline
enum MailboxEvent<Input, Failure: Error> {
  case value(Input)
  case completion(Subscribers.Completion<Failure>)
}
