import Foundation
import Rebound

/// An outbox could not do what it was asked for.
public enum OutboxFailure: Error, Sendable {
  /// There is no room; nothing was stored.
  case full(OutboxFull)
  /// It cannot be stored as it is, because making or encoding it threw this.
  case unstorable(any Error)
  /// The storage failed with this. Nothing is promised; see ``OutboxStorageFailure``.
  case storage(any Error)
  /// The outbox was closed.
  case closed
}

/// There is no room in an outbox.
public struct OutboxFull: Error, Hashable, Sendable {
  /// How many entries wait or are under way.
  public let pending: Int
  /// How many dead letters it holds.
  public let deadLetters: Int
  /// How many bytes they take together.
  public let bytes: Int
  /// How many entries fit.
  public let capacity: Int
  /// How many bytes fit.
  public let maxBytes: Int

  /// Describes an outbox without room.
  public init(pending: Int, deadLetters: Int, bytes: Int, capacity: Int, maxBytes: Int) {
    self.pending = pending
    self.deadLetters = deadLetters
    self.bytes = bytes
    self.capacity = capacity
    self.maxBytes = maxBytes
  }
}

extension OutboxFull: CustomStringConvertible {
  /// What happened, and what to do about it.
  public var description: String {
    """
    The outbox is full: \(pending) entries wait, \(deadLetters) could not be delivered, \(bytes) bytes in all; \
    \(capacity) entries and \(maxBytes) bytes fit. Wait until some are delivered, or decide about the dead letters.
    """
  }
}

extension OutboxFull: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "There is no room to keep more for later." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Wait until some of it is sent, or decide about what could not be sent." }
}

extension OutboxFailure: CustomStringConvertible {
  /// What happened, and what to do about it.
  public var description: String {
    switch self {
    case .full(let full): "\(full)"
    case .unstorable(let error): "It cannot be kept for later. \(error)"
    case .storage(let error): "The outbox could not write to its storage. \(error)"
    case .closed: "The outbox is closed; make another one on the same storage."
    }
  }
}

extension OutboxFailure: LocalizedError {
  /// What happened, for people: if it is what was to be kept that is to blame, in that error's own words, where it has any.
  public var errorDescription: String? {
    switch self {
    case .full(let full): full.errorDescription
    case .unstorable(let error): (error as? any LocalizedError)?.errorDescription ?? "This cannot be kept for later."
    case .storage: "This could not be kept for later."
    case .closed: "Nothing is kept for later any more."
    }
  }
  /// Why the storage could not do it, in its own words for people; `nil` if it has none.
  public var failureReason: String? {
    if case .storage(let error) = self { (error as? any LocalizedError)?.errorDescription } else { nil }
  }
  /// What to do next, for people.
  public var recoverySuggestion: String? {
    switch self {
    case .full(let full): full.recoverySuggestion
    case .unstorable(let error): (error as? any LocalizedError)?.recoverySuggestion ?? ProgramMistake.suggestion
    case .storage(let error): (error as? any LocalizedError)?.recoverySuggestion ?? "Try again."
    case .closed: "Start the app again, and try again."
    }
  }
}
