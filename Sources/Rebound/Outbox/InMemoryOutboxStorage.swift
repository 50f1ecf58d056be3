import Foundation
import StreamSupport

/// Keeps the entries of an outbox for as long as it lives itself: for tests and previews, and where a restart may forget.
///
/// Unchecked, because the lock guards all that changes.
public final class InMemoryOutboxStorage: OutboxStorage, @unchecked Sendable {
  private let lock = Lock()
  private var kept: [Data] = []
  private var isOpen = false

  /// Makes a storage without records.
  public init() {}

  /// The records, in order.
  public var records: [Data] { lock.withLock { kept } }

  /// Reads all records.
  ///
  /// - Throws: ``OutboxStorageFailure/inUse(_:)`` if another outbox has it.
  public func open() throws -> OutboxContents {
    try lock.withLock {
      guard !isOpen else { throw OutboxStorageFailure.inUse("The storage in memory") }
      isOpen = true
      return OutboxContents(records: kept)
    }
  }

  /// Adds records behind the others.
  public func append(_ records: [Data], durably: Bool) throws {
    try lock.withLock {
      guard isOpen else { throw OutboxStorageFailure.notReady("The storage in memory") }
      kept += records
    }
  }

  /// Replaces all records.
  public func replace(with records: [Data]) throws {
    let before = try lock.withLock {
      guard isOpen else { throw OutboxStorageFailure.notReady("The storage in memory") }
      defer { kept = records }
      return kept
    }
    withExtendedLifetime(before) {}
  }

  /// Lets go of it; the records stay.
  public func close() {
    lock.withLock { isOpen = false }
  }
}
