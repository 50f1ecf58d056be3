import CSQLite
import Foundation
import WebServer

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The accounts, in an SQLite database.
///
/// An account that ``register(_:)`` says was created is on the disk: commits wait for it (`synchronous=FULL`), in WAL
/// mode. Every method blocks for a read or a commit.
final class AccountStore: Sendable {
  /// A wish to have an account.
  struct Registration {
    let userName: String
    let passwordHash: String
    /// False for a name that can't be had although no account has it.
    let isNameFree: Bool
    /// If present, the answer is kept, and given again to the same wish.
    let idempotencyKey: String?
  }

  enum Outcome: Equatable {
    case created
    case taken
    /// There is an answer to this idempotency key already.
    case answeredBefore(RecordedAnswer)
  }

  /// The answer to a request with an idempotency key, with what is needed to recognise that request.
  ///
  /// The request is recognised by its contents. A digest of its body would be a quick hash of the password; this is a
  /// slow one.
  struct RecordedAnswer: Equatable {
    let userName: String
    let passwordHash: String
    let wasCreated: Bool
  }

  private let database: Locked<Database>

  /// Opens the store, and creates it, with its folder, if it doesn't exist.
  ///
  /// - Parameter path: A file, or `:memory:`.
  init(path: String) throws(DatabaseError) {
    if path != ":memory:" { try AccountStore.createFile(at: path) }
    let database = try Database(path: path)
    let mode = try database.run("PRAGMA journal_mode=WAL")
    guard mode == [[.text("wal")]] || path == ":memory:" else {
      throw DatabaseError(operation: "open \(path)", reason: "its file system doesn't allow WAL mode")
    }
    try database.run("PRAGMA synchronous=FULL")
    let full = 2
    guard try database.run("PRAGMA synchronous") == [[.integer(full)]] else {
      throw DatabaseError(operation: "open \(path)", reason: "SQLite doesn't wait for the disk when it commits")
    }
    try database.run(
      """
      CREATE TABLE IF NOT EXISTS accounts (
        name_key TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        password_hash TEXT NOT NULL
      ) STRICT
      """
    )
    try database.run(
      """
      CREATE TABLE IF NOT EXISTS answers (
        idempotency_key TEXT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        was_created INTEGER NOT NULL
      ) STRICT
      """
    )
    self.database = Locked(database)
  }

  /// Whether an account has this name, in any spelling.
  func isTaken(_ userName: String) throws(DatabaseError) -> Bool {
    try database.withLock { (database) throws(DatabaseError) in
      try AccountStore.isTaken(userName, in: database)
    }
  }

  /// The answer that was given to this key.
  func answer(to idempotencyKey: String) throws(DatabaseError) -> RecordedAnswer? {
    try database.withLock { (database) throws(DatabaseError) in
      try AccountStore.answer(to: idempotencyKey, in: database)
    }
  }

  /// Creates an account if its name is free.
  ///
  /// Of several at once, one succeeds.
  func register(_ wish: Registration) throws(DatabaseError) -> Outcome {
    try database.withLock { (database) throws(DatabaseError) in
      let database = database
      return try database.transaction { () throws(DatabaseError) -> Outcome in
        if let key = wish.idempotencyKey, let answer = try AccountStore.answer(to: key, in: database) {
          return .answeredBefore(answer)
        }
        let isTaken = try AccountStore.isTaken(wish.userName, in: database)
        let isFree = wish.isNameFree && !isTaken
        if isFree {
          let nameKey = UserNameRules.caselessKey(of: wish.userName)
          try database.run(
            "INSERT INTO accounts (name_key, name, password_hash) VALUES (?, ?, ?)",
            [.text(nameKey), .text(wish.userName), .text(wish.passwordHash)]
          )
        }
        if let key = wish.idempotencyKey {
          try database.run(
            "INSERT INTO answers (idempotency_key, name, password_hash, was_created) VALUES (?, ?, ?, ?)",
            [.text(key), .text(wish.userName), .text(wish.passwordHash), .integer(isFree ? 1 : 0)]
          )
        }
        return isFree ? .created : .taken
      }
    }
  }

  private static func isTaken(_ userName: String, in database: Database) throws(DatabaseError) -> Bool {
    let rows = try database.run(
      "SELECT 1 FROM accounts WHERE name_key = ?",
      [.text(UserNameRules.caselessKey(of: userName))]
    )
    return !rows.isEmpty
  }

  private static func answer(to key: String, in database: Database) throws(DatabaseError) -> RecordedAnswer? {
    let rows = try database.run(
      "SELECT name, password_hash, was_created FROM answers WHERE idempotency_key = ?",
      [.text(key)]
    )
    guard case .some(let row) = rows.first, case .text(let name) = row[0], case .text(let hash) = row[1] else {
      return nil
    }
    return RecordedAnswer(userName: name, passwordHash: hash, wasCreated: row[2] == .integer(1))
  }

  /// Creates the file, and the folders on the way, for this user only: it holds password hashes.
  ///
  /// SQLite gives its journal files the permissions of the database.
  private static func createFile(at path: String) throws(DatabaseError) {
    let url = URL(fileURLWithPath: path)
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(),
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw DatabaseError(
        operation: "create the folder \(url.deletingLastPathComponent().path)",
        reason: error.localizedDescription
      )
    }
    // Never opened if it exists: closing it again would drop the locks that this process has on it through SQLite.
    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      guard errno == EEXIST else {
        throw DatabaseError(operation: "create \(path)", reason: String(cString: strerror(errno)))
      }
      return
    }
    close(descriptor)
  }
}
