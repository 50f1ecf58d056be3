import Foundation

/// Something that a rate limiter has decided.
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

extension RateLimiterEvent: CustomStringConvertible {
  /// One line for a log: "rejected; possible in 0.5 seconds".
  public var description: String {
    switch self {
    case .admitted: "admitted"
    case .queued(let wait, let queued): "queued for \(wait); \(queued) wait"
    case .admittedAfterWait(let queued): "admitted after a wait; \(queued) wait"
    case .rejected(let retryAfter): "rejected; possible in \(retryAfter)"
    case .abandoned(let queued): "cancelled while queued; \(queued) wait"
    case .throttled(let share, let pause):
      "throttled to \(share) of the full rate" + (pause.map { " after a pause of \($0)" } ?? "")
    case .recovered(let share): "recovered to \(share) of the full rate"
    }
  }
}

extension RateLimiterEvent: PolicyDecision {
  /// That of rate limiters.
  public static var kind: PolicyKind { .rateLimiter }

  /// A warning if a call is refused, or the service has said that there were too many.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .rejected, .throttled: .warning
    case .admitted, .queued, .admittedAfterWait, .abandoned, .recovered: .info
    }
  }

  /// The decision in a word.
  public var word: String {
    switch self {
    case .admitted: "admitted"
    case .queued: "queued"
    case .admittedAfterWait: "admitted_after_wait"
    case .rejected: "rejected"
    case .abandoned: "abandoned"
    case .throttled: "throttled"
    case .recovered: "recovered"
    }
  }

  /// How long a call is to wait.
  public var measurements: [PolicyMeasurement] {
    guard case .queued(let wait, _) = self else { return [] }
    return [
      PolicyMeasurement(
        "rebound_queue_wait_seconds",
        wait.inSeconds,
        meaning: "What rate limiters let calls wait."
      )
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
    ///
    /// - Parameters:
    ///   - queued: How many calls wait.
    ///   - share: The share of the full rate that holds.
    public init(queued: Int, share: Double) {
      self.queued = queued
      self.share = share
    }
  }
}

extension RateLimiter.Snapshot: PolicyReading {
  /// One line for a log: "0 wait, 1.0 of the full rate".
  public var description: String { "\(queued) wait, \(share) of the full rate" }

  /// How many calls wait, and for which share of the rate.
  public var measurements: [PolicyMeasurement] {
    [
      PolicyMeasurement("rebound_limiter_queued", Double(queued), meaning: "Calls that wait for a rate limiter."),
      PolicyMeasurement(
        "rebound_limiter_share",
        share,
        meaning: "The share of its full rate that a rate limiter lets through."
      ),
    ]
  }
}

extension RateLimiter: PolicyObservable {
  /// That of rate limiters.
  public static var kind: PolicyKind { .rateLimiter }
  /// Its ``snapshot``.
  public var reading: (any PolicyReading)? { snapshot }
  /// Tells one more observer what is decided, as ``onEvent(_:)`` does.
  public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) { onEvent { observer($0) } }
}

/// A rate limiter has refused a call, because too many have begun.
public struct RateLimited: Error, Hashable {
  /// What the limiter protects.
  public let name: String
  /// How long until the call could begin, if nobody else came; `nil` is never the case.
  public let retryAfter: Duration?
  /// How many others wait.
  public let queueLength: Int

  /// Describes a refusal.
  ///
  /// - Parameters:
  ///   - name: What the limiter protects.
  ///   - retryAfter: How long until the call could begin.
  ///   - queueLength: How many others wait.
  public init(name: String, retryAfter: Duration, queueLength: Int) {
    self.name = name
    self.retryAfter = retryAfter
    self.queueLength = queueLength
  }
}

extension RateLimited: RetryAfterProviding {
  /// The call was refused.
  public var isRefusal: Bool { true }
}

extension RateLimited: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    "\(name) is called too often; try again in \(retryAfter ?? .zero). \(queueLength) calls wait."
  }
}

extension RateLimited: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "That was asked for too often." }
  /// When to try again, for people.
  public var recoverySuggestion: String? { suggestionToTryAgain }
}
