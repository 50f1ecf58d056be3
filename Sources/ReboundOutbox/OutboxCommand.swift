/// How an entry is stored.
public struct OutboxOptions: Hashable, Sendable {
  /// Whether it takes the place of the entries of its key that wait: the last write wins.
  ///
  /// One that is under way stays, since it may have arrived; the new one is sent after it.
  public var replacesWaiting: Bool
  /// How long it may wait; `nil` takes the policy's time, and zero or less has it expire at once.
  public var timeToLive: Duration?
  /// By what the other side knows a repetition; `nil` draws 128 random bits.
  public var idempotencyKey: String?

  /// Says how an entry is stored.
  public init(replacesWaiting: Bool = false, timeToLive: Duration? = nil, idempotencyKey: String? = nil) {
    self.replacesWaiting = replacesWaiting
    self.timeToLive = timeToLive
    self.idempotencyKey = idempotencyKey
  }

  /// Behind the others of its key.
  public static var standard: OutboxOptions { OutboxOptions() }
  /// In the place of those of its key that wait.
  public static var latest: OutboxOptions { OutboxOptions(replacesWaiting: true) }
}

/// Something that an outbox is to do.
enum OutboxCommand<Payload: Codable & Sendable>: Sendable {
  typealias Answer<Value> = @Sendable (Result<Value, OutboxFailure>) -> Void

  case start(Answer<Void>)
  case enqueue(OutboxDraft<Payload>, Answer<OutboxEntry<Payload>>)
  case cancel(OutboxEntryID, Answer<OutboxCancellation>)
  case revive(OutboxEntryID, Answer<Bool>)
  case discard(OutboxEntryID, Answer<Bool>)
  case pause(Bool)
  case online(Bool)
  case wake(all: Bool)
  case verdict(OutboxEntryID, OutboxVerdict)
  case close(Answer<Void>)
}

/// What is to become an entry.
struct OutboxDraft<Payload: Sendable>: Sendable {
  /// Makes the payload, on the outbox's scheduler, once.
  let make: @Sendable () throws -> Payload
  let key: String
  let options: OutboxOptions
}
