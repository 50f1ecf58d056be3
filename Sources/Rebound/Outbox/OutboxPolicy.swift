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
  /// The longest pause that the other side may ask for; a longer one counts as this.
  public let maxHint: Duration

  /// 1,000 entries in 64 MB, 4 at a time, 100 attempts within a week, with pauses from 1 s to 5 min, half of each by
  /// chance.
  public static let standard = OutboxPolicy(
    validCapacity: 1_000,
    maxBytes: 64 << 20,
    maxConcurrent: 4,
    maxAttempts: 100,
    timeToLive: .seconds(7 * 86_400),
    backoff: .exponential(from: .seconds(1), upTo: .seconds(300), jitter: .equal),
    maxHint: .seconds(3_600)
  )

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - capacity: How many entries it holds, dead letters included.
  ///   - maxBytes: How many bytes its entries take as they are stored.
  ///   - maxConcurrent: How many entries are delivered at the same time, each of another key.
  ///   - maxAttempts: How often an entry is sent; `nil` for as often as its time allows.
  ///   - timeToLive: How long an entry may wait; `nil` for ever.
  ///   - backoff: How long a key waits after a failure.
  ///   - maxHint: The longest pause that the other side may ask for.
  /// - Throws: ``InvalidOutboxPolicy``, with the number that makes no sense.
  public init(
    capacity: Int = standard.capacity,
    maxBytes: Int = standard.maxBytes,
    maxConcurrent: Int = standard.maxConcurrent,
    maxAttempts: Int? = standard.maxAttempts,
    timeToLive: Duration? = standard.timeToLive,
    backoff: Backoff = standard.backoff,
    maxHint: Duration = standard.maxHint
  ) throws(InvalidOutboxPolicy) {
    if capacity < 1 { throw .capacityNotPositive(capacity) }
    if maxBytes < 1 { throw .bytesNotPositive(maxBytes) }
    if maxConcurrent < 1 { throw .concurrencyNotPositive(maxConcurrent) }
    if let maxAttempts, maxAttempts < 1 { throw .attemptsNotPositive(maxAttempts) }
    if let timeToLive, timeToLive <= .zero { throw .timeToLiveNotPositive(timeToLive) }
    if maxHint < .zero { throw .negativeMaxHint(maxHint) }
    do { try backoff.validate() } catch { throw .backoff(error) }
    self.init(
      validCapacity: capacity,
      maxBytes: maxBytes,
      maxConcurrent: maxConcurrent,
      maxAttempts: maxAttempts,
      timeToLive: timeToLive?.clampedToDelay,
      backoff: backoff,
      maxHint: maxHint.clampedToDelay
    )
  }

  private init(
    validCapacity capacity: Int,
    maxBytes: Int,
    maxConcurrent: Int,
    maxAttempts: Int?,
    timeToLive: Duration?,
    backoff: Backoff,
    maxHint: Duration
  ) {
    self.capacity = capacity
    self.maxBytes = maxBytes
    self.maxConcurrent = maxConcurrent
    self.maxAttempts = maxAttempts
    self.timeToLive = timeToLive
    self.backoff = backoff
    self.maxHint = maxHint
  }
}

/// An outbox policy that makes no sense, refused when it is made.
public enum InvalidOutboxPolicy: Error, Hashable, Sendable {
  /// Not even one entry fits.
  case capacityNotPositive(Int)
  /// Not even one byte fits.
  case bytesNotPositive(Int)
  /// Not even one entry may be delivered.
  case concurrencyNotPositive(Int)
  /// Not even one attempt is allowed.
  case attemptsNotPositive(Int)
  /// Every entry has expired when it comes.
  case timeToLiveNotPositive(Duration)
  /// The longest pause to be asked for is below zero.
  case negativeMaxHint(Duration)
  /// The back-off makes no sense.
  case backoff(InvalidRetryPolicy)
}

extension InvalidOutboxPolicy: CustomStringConvertible {
  /// What is wrong, with the number that is, and what to give instead.
  public var description: String {
    switch self {
    case .capacityNotPositive(let count): "Outbox: capacity is \(count). Give at least 1."
    case .bytesNotPositive(let count): "Outbox: maxBytes is \(count). Give at least what one entry takes."
    case .concurrencyNotPositive(let count): "Outbox: maxConcurrent is \(count). Give at least 1."
    case .attemptsNotPositive(let count):
      "Outbox: maxAttempts is \(count). Give at least 1, or nil to try for as long as the entry lives."
    case .timeToLiveNotPositive(let time):
      "Outbox: timeToLive is \(time). Give a positive duration, or nil for entries that never expire."
    case .negativeMaxHint(let hint):
      "Outbox: maxHint is \(hint). Give zero to take no notice of hints, or a positive duration."
    case .backoff(let invalid): "Outbox: \(invalid)"
    }
  }
}
