import Foundation
import StreamSupport

/// Keeps the entries of an outbox for as long as it lives itself: for tests and previews, and where a restart may forget.
public final class InMemoryOutboxStorage: OutboxStorage, Sendable {
  private struct State {
    var kept: [Data] = []
    var isOpen = false
  }

  private let state = Locked(State())

  /// Makes a storage without records.
  public init() {}

  /// The records, in order.
  public var records: [Data] { state.withLock { $0.kept } }

  /// Reads all records.
  ///
  /// - Throws: ``OutboxStorageFailure/inUse(_:)`` if another outbox has it.
  public func open() throws -> OutboxContents {
    try state.withLock { state in
      guard !state.isOpen else { throw OutboxStorageFailure.inUse("The storage in memory") }
      state.isOpen = true
      return OutboxContents(records: state.kept)
    }
  }

  /// Adds records behind the others.
  public func append(_ records: [Data], durably: Bool) throws {
    try state.withLock { state in
      guard state.isOpen else { throw OutboxStorageFailure.notReady("The storage in memory") }
      state.kept += records
    }
  }

  /// Replaces all records.
  public func replace(with records: [Data]) throws {
    let before = try state.withLock { state in
      guard state.isOpen else { throw OutboxStorageFailure.notReady("The storage in memory") }
      defer { state.kept = records }
      return state.kept
    }
    withExtendedLifetime(before) {}
  }

  /// Lets go of it; the records stay.
  public func close() {
    state.withLock { $0.isOpen = false }
  }
}
