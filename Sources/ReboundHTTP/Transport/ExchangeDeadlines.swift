import Combine
import Rebound
import StreamSupport

/// Watches the limits of all exchanges of one transport with one timer.
///
/// The timer is set for the earliest limit known, and not taken back when that exchange ends: most do so long before, and
/// to set and unset a timer for each would cost more than to look once too often.
///
/// Unchecked, because the lock guards all that changes.
final class ExchangeDeadlines: @unchecked Sendable {
  let time: TimeSource

  private let lock = Lock()
  private var exchanges: [ObjectIdentifier: OngoingExchange] = [:]
  private var due: Duration?
  private var timer: (any Cancellable)?

  init(_ time: TimeSource) {
    self.time = time
  }

  deinit {
    timer?.cancel()
  }

  /// Watches an exchange until it is over; ends it at once if a limit has passed already.
  func watch(_ exchange: OngoingExchange) {
    guard let next = exchange.checkDeadline(at: time.now) else { return }
    lock.withLock { exchanges[ObjectIdentifier(exchange)] = exchange }
    // It may have ended meanwhile, and have been forgotten before it was watched.
    if exchange.isOver { return forget(exchange) }
    setTimer(for: next)
  }

  func forget(_ exchange: OngoingExchange) {
    let removed = lock.withLock { exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
    withExtendedLifetime(removed) {}
  }

  private func setTimer(for next: Duration) {
    let isEarlier = lock.withLock {
      guard due.map({ next < $0 }) ?? true else { return false }
      due = next
      return true
    }
    guard isEarlier else { return }
    let timer = time.after(next - time.now) { [weak self] in self?.check(dueAt: next) }
    let outdated: (any Cancellable)? = lock.withLock {
      // Another thread may have set an earlier one meanwhile.
      guard due == next else { return timer }
      defer { self.timer = timer }
      return self.timer
    }
    outdated?.cancel()
  }

  private func check(dueAt moment: Duration) {
    let watched: [OngoingExchange] = lock.withLock {
      guard due == moment else { return [] }
      due = nil
      return Array(exchanges.values)
    }
    let now = time.now
    if let next = watched.compactMap({ $0.checkDeadline(at: now) }).min() { setTimer(for: next) }
  }
}
