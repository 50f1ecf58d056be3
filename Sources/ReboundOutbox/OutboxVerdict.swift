import Foundation
import Rebound

/// What came of one attempt to deliver an entry.
public enum OutboxVerdict: Sendable {
  /// The other side has it; it is removed.
  case delivered
  /// The other side was not reached, and cannot have acted on it. It stays at the front of its key, and the attempt does
  /// not count. Its key waits for at least as long as is asked, or else until there is a network.
  case unreachable(any Error, after: Duration? = nil)
  /// It failed for the moment, and the other side may have seen it. It stays at the front of its key, for at least as long
  /// as the other side asks.
  case tryLater(any Error, after: Duration? = nil)
  /// The other side will not take it, however often it is sent; it becomes a dead letter.
  case refused(any Error)
}

/// What delivers the entries of an outbox has finished without a verdict; the entry is tried again later.
public struct OutboxWithoutVerdict: Error, Hashable, CustomStringConvertible {
  /// Makes the error.
  public init() {}

  /// What happened, and what to do about it.
  public var description: String {
    "The delivery finished without a verdict; let its publisher send one value."
  }
}

extension OutboxWithoutVerdict: LocalizedError {
  /// That it is the program's fault, for people; the description says which.
  public var errorDescription: String? { ProgramMistake.words }
  /// What to do next, for people.
  public var recoverySuggestion: String? { ProgramMistake.suggestion }
}

/// What came of the wish to take an entry back.
public enum OutboxCancellation: Hashable, Sendable {
  /// It is gone, and was never sent.
  case cancelled
  /// It is gone, but an attempt was or is under way: the other side may have it.
  case cancelledTooLate
  /// There is no such entry that waits: it was delivered, taken back or replaced, or is a dead letter.
  case notThere
}
