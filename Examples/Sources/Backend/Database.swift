import CSQLite
import Foundation

/// Why the database couldn't do something.
public struct DatabaseError: Error, Equatable, CustomStringConvertible, LocalizedError {
  /// What was to be done.
  public let operation: String
  /// What SQLite, or the file system, says about it.
  public let reason: String

  /// What couldn't be done and why, as a sentence without its full stop.
  public var description: String { "The database couldn't \(operation): \(reason)" }
  /// The same as ``description``.
  public var errorDescription: String? { description }
}

/// A connection to an SQLite database.
///
/// Not for use by two threads at once.
final class Database {
  /// A value in a row or a statement.
  enum Value: Equatable {
    case text(String)
    case integer(Int)
    case null
  }

  private let connection: OpaquePointer

  /// Opens a database, and creates it if it doesn't exist.
  init(path: String) throws(DatabaseError) {
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = sqlite3_open_v2(path, &connection, flags, nil)
    guard status == SQLITE_OK, let connection else {
      let reason = String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(status))
      sqlite3_close(connection)
      throw DatabaseError(operation: "open \(path)", reason: reason)
    }
    self.connection = connection
    // Another process may be writing; five seconds is far more than a write takes.
    sqlite3_busy_timeout(connection, 5000)
  }

  deinit {
    sqlite3_close(connection)
  }

  /// Runs one statement and returns its rows.
  @discardableResult
  func run(_ sql: String, _ values: [Value] = []) throws(DatabaseError) -> [[Value]] {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil), sql)
    defer { sqlite3_finalize(statement) }
    for case (let index, let value) in zip(Int32(1)..., values) {
      try bind(value, at: index, of: statement, sql)
    }
    var rows: [[Value]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { Database.column($0, of: statement) })
      case SQLITE_DONE: return rows
      case let failure: try check(failure, sql)
      }
    }
  }

  /// Runs `body` in a transaction that nobody else can write in between; undone if `body` throws.
  func transaction<Result>(_ body: () throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
    try run("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // A failed COMMIT may have ended the transaction already; then there is nothing to undo, and the first error
      // counts.
      _ = try? run("ROLLBACK")
      throw error
    }
  }

  private func bind(
    _ value: Value,
    at index: Int32,
    of statement: OpaquePointer?,
    _ sql: String
  ) throws(DatabaseError) {
    switch value {
    case .text(let text): try check(shim_bind_text(statement, index, text, Int32(text.utf8.count)), sql)
    case .integer(let number): try check(sqlite3_bind_int64(statement, index, Int64(number)), sql)
    case .null: try check(sqlite3_bind_null(statement, index), sql)
    }
  }

  private static func column(_ index: Int32, of statement: OpaquePointer?) -> Value {
    switch sqlite3_column_type(statement, index) {
    case SQLITE_NULL: .null
    case SQLITE_INTEGER: .integer(Int(sqlite3_column_int64(statement, index)))
    default:
      .text(
        String(
          decoding: UnsafeRawBufferPointer(
            start: sqlite3_column_text(statement, index),
            count: Int(sqlite3_column_bytes(statement, index))
          ),
          as: UTF8.self
        )
      )
    }
  }

  private func check(_ status: Int32, _ sql: String) throws(DatabaseError) {
    guard status != SQLITE_OK else { return }
    throw DatabaseError(operation: "run '\(sql)'", reason: String(cString: sqlite3_errmsg(connection)))
  }
}
