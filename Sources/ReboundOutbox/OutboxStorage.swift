import Foundation
import Rebound

/// Where an outbox keeps its entries: a list of records that only grows, until it is replaced as a whole.
///
/// An outbox calls it from one thread at a time, off its callers' threads, so that it may block. It opens it before all
/// else, and does nothing after ``close()`` but open it again. What the records hold is the outbox's affair.
///
/// A storage that throws has promised nothing: the records of that call may be there after a restart, or some of the
/// first of them. The outbox then replaces all of them at the next occasion.
public protocol OutboxStorage: Sendable {
  /// Takes hold of the storage, and reads all records in order.
  ///
  /// One that has found damaged lines may refuse to add any before all are replaced, which the outbox does as soon as it has
  /// told of them; if the process ends before that, they are found again.
  ///
  /// - Throws: ``OutboxStorageFailure/inUse(_:)`` if another outbox has it.
  func open() throws -> OutboxContents

  /// Adds records behind the others.
  ///
  /// - Parameters:
  ///   - records: What to add.
  ///   - durably: Whether it returns only when they and all before them would survive the loss of power. If not, they need
  ///     only survive the end of the process.
  func append(_ records: [Data], durably: Bool) throws

  /// Replaces all records by others, durably, and either wholly or not at all.
  func replace(with records: [Data]) throws

  /// Lets go of the storage.
  func close()
}

/// What a storage held when it was opened.
public struct OutboxContents: Sendable {
  /// The records that are whole, in order.
  public var records: [Data]
  /// What is wrong with the rest.
  public var damage: [OutboxDamage]

  /// Describes what a storage held.
  public init(records: [Data] = [], damage: [OutboxDamage] = []) {
    self.records = records
    self.damage = damage
  }
}

/// Something that is wrong with what an outbox has stored.
public enum OutboxDamage: Hashable, Sendable {
  /// So many bytes at the end are no whole record: the process ended while it wrote them, before it promised anything.
  case torn(bytes: Int)
  /// These lines have another checksum than when they were written. The file as it was is kept at this path.
  case corrupt(lines: [Int], keptAt: String)
  /// Entries are whole, but this version of the program cannot decode them. They stay stored, and are not delivered.
  case unreadable([OutboxEntryID], String)
  /// So many records are of a kind that this version does not know. They stay stored.
  case unknown(Int)
}

extension OutboxDamage: CustomStringConvertible {
  /// What is wrong, and what became of it.
  public var description: String {
    switch self {
    case .torn(let bytes):
      return "an unfinished record of \(bytes) bytes at the end was dropped"
    case .corrupt(let lines, let path):
      return "damaged lines (\(lines.map(String.init).joined(separator: ", "))) were left out; all is kept at \(path)"
    case .unreadable(let ids, let text):
      return "entries that cannot be decoded (\(ids.map { "\($0)" }.joined(separator: ", "))) stay stored: \(text)"
    case .unknown(let count):
      return "\(count) records of a later version stay stored"
    }
  }
}

/// A storage could not do its work.
public enum OutboxStorageFailure: Error, Hashable, Sendable {
  /// Another outbox, of this process or another, has the storage.
  case inUse(String)
  /// The file is something else than an outbox's.
  case notAnOutbox(String)
  /// The file was written by a later version.
  case laterVersion(String, version: Int)
  /// The system refuses.
  case system(String, path: String, reason: String)
  /// It was used before it was opened, or after it has failed or found damage, without a ``OutboxStorage/replace(with:)``.
  case notReady(String)
}

extension OutboxStorageFailure: CustomStringConvertible {
  /// What happened, and what to do about it.
  public var description: String {
    switch self {
    case .inUse(let path):
      return "\(path) is in use by another outbox. Let it be closed first, or give each its own file."
    case .notAnOutbox(let path):
      return "\(path) is not the file of an outbox, and was left alone. Give another path."
    case .laterVersion(let path, let version):
      return "\(path) was written by a later version (format \(version)), and was left alone. Update the program."
    case .system(let call, let path, let reason):
      return "\(call) \(path): \(reason). Look at the space and the permissions there."
    case .notReady(let path):
      return "\(path) is not open for writing. Open it, or replace its records."
    }
  }
}

extension OutboxStorageFailure: LocalizedError {
  /// What happened, for people, who know no paths.
  public var errorDescription: String? {
    switch self {
    case .inUse: "Another program has what is kept for later."
    case .notAnOutbox: "Something else is where things are to be kept for later."
    case .laterVersion: "What is kept for later was written by a later version of the app."
    case .system: "What is kept for later cannot be read or written."
    case .notReady: "What is kept for later is not open."
    }
  }
  /// What to do next, for people.
  public var recoverySuggestion: String? {
    switch self {
    case .inUse: "Close the other program, and try again."
    case .notAnOutbox: ProgramMistake.suggestion
    case .laterVersion: "Please update the app."
    case .system: "Make some space, and try again."
    case .notReady: "Start the app again, and try again."
    }
  }
}
