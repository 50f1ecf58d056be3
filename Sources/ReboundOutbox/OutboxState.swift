/// What an outbox holds at one moment, in numbers.
public struct OutboxState: Hashable, Sendable {
  /// How many entries are not delivered yet, those under way included.
  public let pending: Int
  /// How many of them are under way.
  public let delivering: Int
  /// How many could not be delivered.
  public let deadLetters: Int
  /// Whether the app has told it to send nothing.
  public let isPaused: Bool
  /// Whether there is a network, as far as anybody has said.
  public let isOnline: Bool

  /// Describes what an outbox holds.
  public init(
    pending: Int = 0,
    delivering: Int = 0,
    deadLetters: Int = 0,
    isPaused: Bool = false,
    isOnline: Bool = true
  ) {
    self.pending = pending
    self.delivering = delivering
    self.deadLetters = deadLetters
    self.isPaused = isPaused
    self.isOnline = isOnline
  }

  /// Whether everything was delivered.
  public var isEmpty: Bool { pending == 0 && deadLetters == 0 }
}

extension OutboxState: CustomStringConvertible {
  /// One line for a log: "3 pending, 1 under way, 0 dead letters, paused".
  public var description: String {
    "\(pending) pending, \(delivering) under way, \(deadLetters) dead letters"
      + (isPaused ? ", paused" : "") + (isOnline ? "" : ", offline")
  }
}
