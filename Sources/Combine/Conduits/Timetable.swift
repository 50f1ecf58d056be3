import StreamSupport

/// Events on their way through a scheduler, delivered one at a time and in the order in which they came.
///
/// Whoever posts an event schedules one job for it, and each job delivers the *oldest* event there is, inside the
/// turnstile. So nothing overtakes anything, though the jobs may: on a concurrent queue, or with equal due times.
@usableFromInline
final class Timetable<Event> {
  /// Held while events go downstream; jobs that come meanwhile wait for it.
  @usableFromInline let turnstile = Turnstile()
  @usableFromInline let lock = Lock()
  // Both guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var events = Queue<Event>()
  @exclusivity(unchecked) @usableFromInline var isClosed = false

  @inlinable
  init() {}

  /// Adds an event; a job for it is to be scheduled next.
  @inlinable @inline(__always)
  func post(_ event: Event) {
    lock.lock()
    if !isClosed { events.append(event) }
    lock.unlock()
  }

  /// Adds an event and refuses all that come after it.
  @inlinable
  func postLast(_ event: Event) {
    lock.lock()
    if !isClosed { events.append(event) }
    isClosed = true
    lock.unlock()
  }

  /// Takes the oldest event out and runs `deliver` with it; does nothing if there is none left.
  ///
  /// Called by the jobs.
  @inlinable @inline(__always)
  func deliverOldest(_ deliver: (Event) -> Void) {
    turnstile.enter()
    lock.lock()
    let event = events.popFirst()
    lock.unlock()
    if let event { deliver(event) }
    turnstile.leave()
  }

  /// Drops all events, also those to come.
  @usableFromInline
  func close() {
    lock.lock()
    isClosed = true
    let dropped = events
    events = Queue()
    lock.unlock()
    // Outside the lock: values may run code of their own when they go.
    withExtendedLifetime(dropped) {}
  }
}

/// What goes through a ``Timetable``.
@frozen
@usableFromInline
enum TimetableEvent<Input, Failure: Error> {
  case value(Input)
  case completion(Subscribers.Completion<Failure>)
}
