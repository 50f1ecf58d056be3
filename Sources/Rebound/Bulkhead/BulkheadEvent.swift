import Foundation

/// Something that a bulkhead has decided; a warning if a call is refused.
public enum BulkheadEvent: Hashable, Sendable {
  /// A call runs, and with it so many.
  case admitted(running: Int, limit: Int)
  /// A call waits, and with it so many.
  case queued(Int)
  /// A call is refused, since as many wait as may.
  case rejected(queued: Int, limit: Int)
  /// A call is refused, since it has waited for as long as it may.
  case timedOut(queued: Int)
  /// A call that waited was cancelled.
  case abandoned(queued: Int)
  /// A call has ended, and so many run still.
  case released(running: Int)
  /// From now on so many may run.
  case limitChanged(Int)
}

extension BulkheadEvent: RecordedDecision {
  /// That of bulkheads.
  public static var kind: PolicyKind { .bulkhead }

  var record: DecisionRecord {
    switch self {
    case .admitted(let running, let limit):
      .init(.info, "admitted", "admitted; \(running) of \(limit) run")
        .with([.init("running", running), .init("limit", limit)])
    case .queued(let count): .init(.info, "queued", "queued; \(count) wait").with([.init("queued", count)])
    case .rejected(let queued, let limit):
      .init(.warning, "rejected", "rejected; \(limit) run and \(queued) wait")
        .with([.init("limit", limit), .init("queued", queued)])
    case .timedOut(let queued):
      .init(.warning, "timed_out", "rejected after the longest wait; \(queued) wait").with([.init("queued", queued)])
    case .abandoned(let queued):
      .init(.info, "abandoned", "cancelled while queued; \(queued) wait").with([.init("queued", queued)])
    case .released(let running): .init(.info, "released", "released; \(running) run").with([.init("running", running)])
    case .limitChanged(let limit): .init(.info, "limit_changed", "limit is now \(limit)").with([.init("limit", limit)])
    }
  }
}

extension PolicyKind {
  /// That of a ``Bulkhead``.
  public static let bulkhead = PolicyKind("bulkhead")
}

extension Bulkhead.Snapshot: PolicyReading {
  /// One line for a log: "3 of 10 run, 0 wait".
  public var description: String { "\(running) of \(limit) run, \(queued) wait" }

  /// `running`, `limit` and `queued`.
  public var details: [EventField] {
    [EventField("running", running), EventField("limit", limit), EventField("queued", queued)]
  }

  /// How many calls run, may run, and wait.
  public var measurements: [PolicyMeasurement] {
    [
      .init("rebound_bulkhead_running", running, "Calls that run in a bulkhead."),
      .init("rebound_bulkhead_limit", limit, "Calls that may run in a bulkhead at the same time."),
      .init("rebound_bulkhead_queued", queued, "Calls that wait for a place in a bulkhead."),
    ]
  }
}

extension Bulkhead: EventTelling {
  /// Its ``snapshot``.
  public var reading: (any PolicyReading)? { snapshot }
}

/// A bulkhead has refused a call, because too many run and wait already.
public struct BulkheadFull: Error, Hashable {
  /// What the bulkhead protects.
  public let name: String
  /// How many calls may run.
  public let limit: Int
  /// How many others wait.
  public let queued: Int
  /// How long the call has waited in vain; `nil` if it was refused at once.
  public let waited: Duration?

  /// Describes a refusal.
  public init(name: String, limit: Int, queued: Int, waited: Duration? = nil) {
    self.name = name
    self.limit = limit
    self.queued = queued
    self.waited = waited
  }
}

extension BulkheadFull: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    let state = "\(limit) calls may run at the same time, and \(queued) wait."
    guard let waited else { return "\(name) is too busy; try again later. \(state)" }
    return "\(name) was too busy for \(waited); try again later. \(state)"
  }
}

extension BulkheadFull: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "Too much is going on at once." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Try again in a moment." }
}
