import Foundation

/// Names an entry of one outbox, for as long as its storage lives; a later one is greater.
public struct OutboxEntryID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// The number.
  public let number: UInt64

  /// Makes a name of a number that an outbox has given.
  public init(_ number: UInt64) {
    self.number = number
  }

  /// Reads the number.
  public init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(UInt64.self)
  }

  /// Writes the number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }

  /// Whether one came before another.
  public static func < (left: OutboxEntryID, right: OutboxEntryID) -> Bool { left.number < right.number }

  /// The number.
  public var description: String { "\(number)" }
}

/// Something that is to be delivered.
public struct OutboxEntry<Payload: Sendable>: Identifiable, Sendable {
  /// What went wrong with an attempt.
  public struct Setback: Hashable, Codable, Sendable {
    /// What the failure says about itself.
    public let text: String
    /// When it came, by the device's clock.
    public let date: Date

    /// Describes what went wrong.
    public init(text: String, date: Date) {
      self.text = text
      self.date = date
    }
  }

  /// What it is called.
  public let id: OutboxEntryID
  /// What it belongs to: entries of one key are delivered in order, one at a time.
  public let key: String
  /// What to deliver.
  public let payload: Payload
  /// By this the other side knows a repetition; the same for all attempts, also after a restart.
  public let idempotencyKey: String
  /// When it came, by the device's clock.
  public let enqueuedAt: Date
  /// When it is not worth to be delivered any more; `nil` for never.
  public internal(set) var expiresAt: Date?
  /// How many attempts there were that may have reached the other side, the one under way included.
  public internal(set) var attempts: Int
  /// What went wrong last.
  public internal(set) var lastSetback: Setback?

  /// Makes an entry, as an outbox does: for tests of what delivers it.
  public init(
    id: OutboxEntryID,
    key: String,
    payload: Payload,
    idempotencyKey: String,
    enqueuedAt: Date,
    expiresAt: Date? = nil,
    attempts: Int = 0,
    lastSetback: Setback? = nil
  ) {
    self.id = id
    self.key = key
    self.payload = payload
    self.idempotencyKey = idempotencyKey
    self.enqueuedAt = enqueuedAt
    self.expiresAt = expiresAt
    self.attempts = attempts
    self.lastSetback = lastSetback
  }
}

extension OutboxEntry {
  // Counted to the end of the range and no further, since a file may hold any number; and from none, below which there would be
  // an attempt for free, where the line that has counted one is damaged.

  mutating func countAttempt() {
    if attempts < .max { attempts = max(attempts, 0) + 1 }
  }

  mutating func discountAttempt() {
    if attempts > 0 { attempts -= 1 }
  }
}

extension OutboxEntry: Equatable where Payload: Equatable {}
extension OutboxEntry: Hashable where Payload: Hashable {}
extension OutboxEntry: Encodable where Payload: Encodable {}
extension OutboxEntry: Decodable where Payload: Decodable {}

extension OutboxEntry: CustomStringConvertible {
  /// Which one it is, without the payload, which may hold secrets: "entry 7 of 'cart'".
  public var description: String { "entry \(id) of '\(key)'" }
}

/// Something that could not be delivered, and is kept until the app decides about it.
public struct OutboxDeadLetter<Payload: Sendable>: Identifiable, Sendable {
  /// Why it is given up.
  public enum Reason: String, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The other side will not take it, however often it is sent.
    case refused
    /// Its time is over.
    case expired
    /// It was sent as often as the policy allows.
    case attemptsUsedUp

    /// The reason in words.
    public var description: String {
      switch self {
      case .refused: "refused"
      case .expired: "expired"
      case .attemptsUsedUp: "attempts used up"
      }
    }
  }

  /// What could not be delivered.
  public let entry: OutboxEntry<Payload>
  /// Why it is given up.
  public let reason: Reason
  /// What the last failure said; what happened, if there was none.
  public let text: String
  /// When it was given up, by the device's clock.
  public let date: Date

  /// Describes what could not be delivered.
  public init(entry: OutboxEntry<Payload>, reason: Reason, text: String, date: Date) {
    self.entry = entry
    self.reason = reason
    self.text = text
    self.date = date
  }

  /// What the entry is called.
  public var id: OutboxEntryID { entry.id }
}

extension OutboxDeadLetter: Equatable where Payload: Equatable {}

extension OutboxDeadLetter: CustomStringConvertible {
  /// One line for a log: "entry 7 of 'cart': refused after 2 attempts (409)".
  public var description: String {
    "\(entry): \(reason) after \(entry.attempts) \(entry.attempts == 1 ? "attempt" : "attempts") (\(text))"
  }
}
