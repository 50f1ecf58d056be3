import Rebound

/// How much an outbox holds, how often it tries, and for how long.
///
///     try OutboxPolicy(capacity: 200, timeToLive: .seconds(86_400), backoff: .steps(.seconds(5), .seconds(60)))
public struct OutboxPolicy: Sendable {
  /// How many entries it holds, dead letters included; one more is refused with ``OutboxFailure/full(_:)``.
  public let capacity: Int
  /// How many bytes its entries take as they are stored, dead letters included.
  public let maxBytes: Int
  /// How many entries are delivered at the same time, each of another key.
  public let maxConcurrent: Int
  /// How often an entry is sent before it becomes a dead letter; `nil` for as often as its time allows.
  ///
  /// Attempts that did not reach the other side (``OutboxVerdict/unreachable(_:after:)``) do not count: a week without a
  /// network is no fault of the entry.
  public let maxAttempts: Int?
  /// How long an entry may wait before it becomes a dead letter; `nil` for ever.
  ///
  /// Measured by the device's clock, since it goes on while no program runs.
  public let timeToLive: Duration?
  /// How long a key waits after a failure, from one failure in a row to the next.
  public let backoff: Backoff
  /// The longest pause that the other side may ask for; a longer one counts as this, and with zero none is asked for.
  public let maxHint: Duration

  /// 1,000 entries in 64 MB, 4 at a time, 100 attempts within a week, with pauses from 1 s to 5 min, half of each by
  /// chance.
  public static let standard = valid { () throws(InvalidPolicy) in try OutboxPolicy() }

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - capacity: How many entries it holds, dead letters included.
  ///   - maxBytes: How many bytes its entries take as they are stored.
  ///   - maxConcurrent: How many entries are delivered at the same time, each of another key.
  ///   - maxAttempts: How often an entry is sent; `nil` for as often as its time allows.
  ///   - timeToLive: How long an entry may wait; `nil` for ever.
  ///   - backoff: How long a key waits after a failure.
  ///   - maxHint: The longest pause that the other side may ask for; zero takes no notice of hints.
  /// - Throws: `InvalidPolicy`, with the number that makes no sense.
  public init(
    capacity: Int = 1_000,
    maxBytes: Int = 64 << 20,
    maxConcurrent: Int = 4,
    maxAttempts: Int? = 100,
    timeToLive: Duration? = .seconds(7 * 86_400),
    backoff: Backoff = .exponential(from: .seconds(1), upTo: .seconds(300), jitter: .equal),
    maxHint: Duration = .seconds(3_600)
  ) throws(InvalidPolicy) {
    let kind = PolicyKind("outbox")
    try kind.require("capacity", capacity, "Give at least 1.") { $0 >= 1 }
    try kind.require("maxBytes", maxBytes, "Give at least what one entry takes.") { $0 >= 1 }
    try kind.require("maxConcurrent", maxConcurrent, "Give at least 1.") { $0 >= 1 }
    let attempts = "Give at least 1, or nil to try for as long as the entry lives."
    try kind.require("maxAttempts", maxAttempts, attempts) { $0 >= 1 }
    let lifetime = "Give a positive duration, or nil for entries that never expire."
    try kind.require("timeToLive", timeToLive, lifetime) { $0 > .zero }
    try kind.require("maxHint", maxHint, "Give zero to take no notice of hints, or a positive duration.") {
      $0 >= .zero
    }
    try backoff.validate(for: kind)
    self.capacity = capacity
    self.maxBytes = maxBytes
    self.maxConcurrent = maxConcurrent
    self.maxAttempts = maxAttempts
    self.timeToLive = timeToLive?.clampedToDelay
    self.backoff = backoff
    self.maxHint = maxHint.clampedToDelay
  }
}
