import Combine
import Rebound
import StreamSupport

/// Writes down the states of a circuit breaker, with the times.
///
///     let log = BreakerLog(of: breaker, on: scheduler)
///     _ = try? await breaker.run(time: scheduler.time) { try await service() }
///     #expect(log.entries.map(\.state) == [.closed, .open])
public final class BreakerLog: Sendable {
  private struct State {
    var log: [Entry] = []
    var subscription: AnyCancellable?
  }

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

  private let state = Locked(State())

  /// Begins to write, with the present state.
  ///
  /// - Parameters:
  ///   - breaker: Whose states to write down.
  ///   - scheduler: Whose times to write down.
  public init(of breaker: CircuitBreaker, on scheduler: TestScheduler) {
    let subscription = breaker.stateChanges.sink { [weak self] state in
      self?.write(Entry(time: scheduler.now, state: state))
    }
    state.withLock { $0.subscription = subscription }
  }

  /// All states, in order.
  public var entries: [Entry] { state.withLock { $0.log } }

  private func write(_ entry: Entry) {
    state.withLock { $0.log.append(entry) }
  }
}
