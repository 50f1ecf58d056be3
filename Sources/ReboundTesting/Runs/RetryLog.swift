import Rebound
import StreamSupport

/// Keeps what a retry policy decided.
///
///     let log = RetryLog()
///     publisher.retry(policy.onEvent(log.write), time: scheduler.time).subscribe(recorder)
///     scheduler.advance(by: .seconds(3))
///     #expect(log.delays == [.seconds(1), .seconds(2), nil])
public final class RetryLog: Sendable {
  private let log = Locked<[RetryEvent]>([])

  /// Makes an empty log.
  public init() {}

  /// The decisions, in order.
  public var events: [RetryEvent] { log.withLock { $0 } }

  /// The delays that were decided on, in order; `nil` where the policy stopped.
  public var delays: [Duration?] { events.map(\.delay) }

  /// What came of each failure, in order.
  public var outcomes: [RetryEvent.Outcome] { events.map(\.outcome) }

  /// Keeps a decision.
  public func write(_ event: RetryEvent) {
    log.withLock { $0.append(event) }
  }
}
