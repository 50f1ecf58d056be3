import Combine
import Rebound
import StreamSupport

/// Watches the limits of all exchanges of one transport with one timer; a transport has one of these.
///
/// All methods may be called from any thread. To watch one exchange more takes constant time, and a look at the clock time
/// in proportion to how many there are.
///
/// The timer is set for the earliest limit known, and not taken back when that exchange ends: most do so long before, and
/// to set and unset a timer for each would cost more than to look once too often.
public final class ExchangeDeadlines: Sendable {
  private struct State {
    var exchanges: [ObjectIdentifier: OngoingExchange] = [:]
    var due: Duration?
    var timer: (any Cancellable)?
  }

  let time: TimeSource

  private let state = Locked(State())

  /// Makes one that watches nothing yet.
  ///
  /// - Parameter time: Measures the limits.
  public init(_ time: TimeSource = .current) {
    self.time = time
  }

  deinit {
    state.withLock { $0.timer }?.cancel()
  }

  /// Watches an exchange until it is over; ends it at once if a limit has passed already.
  func watch(_ exchange: OngoingExchange) {
    guard let next = exchange.checkDeadline(at: time.now) else { return }
    state.withLock { $0.exchanges[ObjectIdentifier(exchange)] = exchange }
    // It may have ended meanwhile, and have been forgotten before it was watched.
    if exchange.isOver { return forget(exchange) }
    setTimer(for: next)
  }

  func forget(_ exchange: OngoingExchange) {
    let removed = state.withLock { $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
    withExtendedLifetime(removed) {}
  }

  private func setTimer(for next: Duration) {
    let isEarlier = state.withLock { state in
      guard state.due.map({ next < $0 }) ?? true else { return false }
      state.due = next
      return true
    }
    guard isEarlier else { return }
    let timer = time.after(next - time.now) { [weak self] in self?.check(dueAt: next) }
    let outdated: (any Cancellable)? = state.withLock { state in
      // Another thread may have set an earlier one meanwhile.
      guard state.due == next else { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    outdated?.cancel()
  }

  private func check(dueAt moment: Duration) {
    let watched: [OngoingExchange] = state.withLock { state in
      guard state.due == moment else { return [] }
      state.due = nil
      return Array(state.exchanges.values)
    }
    let now = time.now
    if let next = watched.compactMap({ $0.checkDeadline(at: now) }).min() { setTimer(for: next) }
  }
}
