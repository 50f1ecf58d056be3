import StreamSupport

/// Keeps what it is told, in order.
///
/// Unchecked, because the lock guards the list.
final class EventLog<Event: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var log: [Event] = []

  var events: [Event] { lock.withLock { log } }
  var lines: [String] { events.map { "\($0)" } }
  var count: Int { events.count }

  func write(_ event: Event) {
    lock.withLock { log.append(event) }
  }
}
