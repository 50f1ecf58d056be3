import Combine
import Rebound
import StreamSupport

/// Writes down the states of a circuit breaker, with the times.
///
///     let log = BreakerLog(of: breaker, on: scheduler)
///     #expect(log.entries.map(\.state) == [.closed, .open])
///
/// Unchecked, because the lock guards every access to the entries.
public final class BreakerLog: @unchecked Sendable {
  /// A state, and when it began.
  public struct Entry: Hashable, Sendable {
    /// When it began; the first one, when the log did.
    public let time: VirtualTime
    /// What the breaker does with calls since then.
    public let state: CircuitBreaker.State

    /// Describes when a state began.
    public init(time: VirtualTime, state: CircuitBreaker.State) {
      self.time = time
      self.state = state
    }
  }

  private let lock = Lock()
  private var log: [Entry] = []
  private var subscription: AnyCancellable?

  /// Begins to write, with the present state.
  ///
  /// - Parameters:
  ///   - breaker: Whose states to write down.
  ///   - scheduler: Whose times to write down.
  public init(of breaker: CircuitBreaker, on scheduler: TestScheduler) {
    subscription = breaker.stateChanges.sink { [weak self] state in
      self?.write(Entry(time: scheduler.now, state: state))
    }
  }

  /// All states, in order.
  public var entries: [Entry] { lock.withLock { log } }

  private func write(_ entry: Entry) {
    lock.withLock { log.append(entry) }
  }
}
