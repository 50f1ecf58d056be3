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

extension RateLimited: RetryAfterProviding {}

extension RateLimited: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    "\(name) is called too often; try again in \(retryAfter ?? .zero). \(queueLength) calls wait."
  }
}
