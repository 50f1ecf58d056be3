import Combine
import Rebound
import StreamSupport

/// Writes down the decisions of all policies that a `PolicyEvents` tells.
///
///     let log = PolicyEventLog(of: events)
///     request.protected(by: weather).subscribe(recorder)
///     scheduler.advance(by: .seconds(10))
///     let line = "0.0 seconds warning weather: retry: attempt 1 failed (busy); retrying in 1.0 seconds (computed)"
///     #expect(log.lines == [line])
public final class PolicyEventLog: Sendable {
  private struct State {
    var log: [PolicyEvent] = []
    var subscription: AnyCancellable?
  }

  private let state = Locked(State())

  /// Begins to write.
  ///
  /// - Parameter events: Whose decisions to write down.
  public init(of events: PolicyEvents) {
    let subscription = events.sink { [weak self] event in self?.write(event) }
    state.withLock { $0.subscription = subscription }
  }

  /// The decisions, in order.
  public var events: [PolicyEvent] { state.withLock { $0.log } }

  /// One line for each decision, in order: its time, its severity, and what was decided by whom.
  public var lines: [String] { events.map { "\($0.time) \($0.severity) \($0)" } }

  private func write(_ event: PolicyEvent) {
    state.withLock { $0.log.append(event) }
  }
}
