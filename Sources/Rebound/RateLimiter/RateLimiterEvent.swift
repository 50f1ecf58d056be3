import Foundation

/// Something that a rate limiter has decided; a warning if a call is refused, or the service has said that there were too
/// many.
public enum RateLimiterEvent: Hashable, Sendable {
  /// A call begins at once.
  case admitted
  /// A call waits, about so long, and with it so many.
  case queued(wait: Duration, queued: Int)
  /// A call that waited begins.
  case admittedAfterWait(queued: Int)
  /// A call is refused; it could begin after so long.
  case rejected(retryAfter: Duration)
  /// A call that waited was cancelled, and those behind it move up.
  case abandoned(queued: Int)
  /// The service has said that there were too many calls: this share of the full rate holds now, after a pause.
  case throttled(share: Double, pause: Duration?)
  /// This share of the full rate holds now.
  case recovered(share: Double)
}

extension RateLimiterEvent: RecordedDecision {
  /// That of rate limiters.
  public static var kind: PolicyKind { .rateLimiter }

  var record: DecisionRecord {
    switch self {
    case .admitted: .init(.info, "admitted", "admitted")
    case .queued(let wait, let queued):
      .init(.info, "queued", "queued for \(wait); \(queued) wait").with([.init("wait", wait), .init("queued", queued)])
    case .admittedAfterWait(let queued):
      .init(.info, "admitted_after_wait", "admitted after a wait; \(queued) wait").with([.init("queued", queued)])
    case .rejected(let retryAfter):
      .init(.warning, "rejected", "rejected; possible in \(retryAfter)").with([.init("retry_after", retryAfter)])
    case .abandoned(let queued):
      .init(.info, "abandoned", "cancelled while queued; \(queued) wait").with([.init("queued", queued)])
    case .throttled(let share, let pause):
      .init(
        .warning,
        "throttled",
        "throttled to \(share) of the full rate" + (pause.map { " after a pause of \($0)" } ?? "")
      )
      .with([EventField("share", share)] + EventField.known("pause", pause))
    case .recovered(let share):
      .init(.info, "recovered", "recovered to \(share) of the full rate").with([.init("share", share)])
    }
  }

  /// How long a call is to wait.
  public var measurements: [PolicyMeasurement] {
    guard case .queued(let wait, _) = self else { return [] }
    return [
      .init("rebound_queue_wait_seconds", wait.inSeconds, "What rate limiters let calls wait.")
    ]
  }
}

extension PolicyKind {
  /// That of a ``RateLimiter``.
  public static let rateLimiter = PolicyKind("rate limiter")
}

extension RateLimiter {
  /// What a rate limiter holds at one moment.
  public struct Snapshot: Hashable, Sendable {
    /// How many calls wait.
    public let queued: Int
    /// The share of the full rate that holds, from what the service has said.
    public let share: Double

    /// Describes what a rate limiter holds.
    public init(queued: Int, share: Double) {
      self.queued = queued
      self.share = share
    }
  }
}

extension RateLimiter.Snapshot: PolicyReading {
  /// One line for a log: "0 wait, 1.0 of the full rate".
  public var description: String { "\(queued) wait, \(share) of the full rate" }

  /// `queued` and `share`.
  public var details: [EventField] { [EventField("queued", queued), EventField("share", share)] }

  /// How many calls wait, and for which share of the rate.
  public var measurements: [PolicyMeasurement] {
    [
      .init("rebound_limiter_queued", queued, "Calls that wait for a rate limiter."),
      .init("rebound_limiter_share", share, "The share of its full rate that a rate limiter lets through."),
    ]
  }
}

extension RateLimiter: EventTelling {
  /// Its ``snapshot``.
  public var reading: (any PolicyReading)? { snapshot }
}

/// A rate limiter has refused a call, because too many have begun.
public struct RateLimited: Error, Hashable {
  /// What the limiter protects.
  public let name: String
  /// How long until the call could begin, if nobody else came; `nil` is never the case.
  public let retryAfter: Duration?
  /// How many others wait.
  public let queued: Int

  /// Describes a refusal.
  public init(name: String, retryAfter: Duration, queued: Int) {
    self.name = name
    self.retryAfter = retryAfter
    self.queued = queued
  }
}

extension RateLimited: RetryAfterProviding {
  /// The call was refused.
  public var isRefusal: Bool { true }
}

extension RateLimited: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    "\(name) is called too often; try again in \(retryAfter ?? .zero). \(queued) calls wait."
  }
}

extension RateLimited: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "That was asked for too often." }
  /// When to try again, for people.
  public var recoverySuggestion: String? { suggestionToTryAgain }
}
