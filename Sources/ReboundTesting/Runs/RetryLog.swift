import Rebound
import StreamSupport

/// Keeps what a retry policy decided.
///
///     let log = RetryLog()
///     publisher.retry(policy.onEvent(log.write), time: scheduler.time).subscribe(recorder)
///     #expect(log.delays == [.seconds(1), .seconds(2), nil])
///
/// Unchecked, because the lock guards every access to the events.
public final class RetryLog: @unchecked Sendable {
  private let lock = Lock()
  private var log: [RetryEvent] = []

  /// Makes an empty log.
  public init() {}

  /// The decisions, in order.
  public var events: [RetryEvent] { lock.withLock { log } }

  /// The delays that were decided on, in order; `nil` where the policy stopped.
  public var delays: [Duration?] { events.map(\.delay) }

  /// What came of each failure, in order.
  public var outcomes: [RetryEvent.Outcome] { events.map(\.outcome) }

  /// Keeps a decision.
  public func write(_ event: RetryEvent) {
    lock.withLock { log.append(event) }
  }
}
