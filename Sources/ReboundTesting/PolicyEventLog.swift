import Combine
import Rebound
import StreamSupport

/// Writes down the decisions of all policies that a `PolicyEvents` tells.
///
///     let log = PolicyEventLog(of: events)
///     request.protected(by: weather).subscribe(recorder)
///     scheduler.advance(by: .seconds(10))
///     #expect(log.lines == ["0.0 seconds warning weather: retry: attempt 1 failed (busy); …"])
///
/// Unchecked, because the lock guards every access to the events.
public final class PolicyEventLog: @unchecked Sendable {
  private let lock = Lock()
  private var log: [PolicyEvent] = []
  private var subscription: AnyCancellable?

  /// Begins to write.
  ///
  /// - Parameter events: Whose decisions to write down.
  public init(of events: PolicyEvents) {
    subscription = events.sink { [weak self] event in self?.write(event) }
  }

  /// The decisions, in order.
  public var events: [PolicyEvent] { lock.withLock { log } }

  /// One line for each decision, in order: its time, its severity, and what was decided by whom.
  public var lines: [String] { events.map { "\($0.time) \($0.severity) \($0)" } }

  private func write(_ event: PolicyEvent) {
    lock.withLock { log.append(event) }
  }
}
