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
      CREATE TABLE IF NOT EXISTS answers (
        idempotency_key TEXT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        was_created INTEGER NOT NULL
      ) STRICT
      """
    )
    try AccountStore.makeAccounts(in: database)
    self.database = Locked(database)
  }

  /// Makes the tables of accounts; a file from before names were compared by their looks, or by these looks, gets them with
  /// its accounts.
  ///
  /// Of accounts whose names only look the same since then, the oldest has the looks for its own; the others stay.
  private static func makeAccounts(in database: Database) throws(DatabaseError) {
    // The version of the keys, too: another one whenever `UserNameRules` makes others.
    let version = 2
    guard try database.run("PRAGMA user_version") != [[.integer(version)]] else { return }
    try database.transaction { () throws(DatabaseError) in
      let isOlder = try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'accounts'").isEmpty
      if isOlder { try database.run("ALTER TABLE accounts RENAME TO older_accounts") }
      try database.run("CREATE TABLE accounts (name TEXT NOT NULL, password_hash TEXT NOT NULL) STRICT")
      try database.run("DROP TABLE IF EXISTS name_keys")
      try database.run("CREATE TABLE name_keys (name_key TEXT NOT NULL PRIMARY KEY) STRICT")
      if isOlder {
        try database.run("INSERT INTO accounts SELECT name, password_hash FROM older_accounts ORDER BY rowid")
        try database.run("DROP TABLE older_accounts")
        for row in try database.run("SELECT name FROM accounts") {
          if case .text(let name) = row[0] { try add(name, to: database) }
        }
      }
      try database.run("PRAGMA user_version = \(version)")
    }
  }

  private static func add(_ userName: String, to database: Database) throws(DatabaseError) {
    for key in UserNameRules.comparisonKeys(of: userName) {
      try database.run("INSERT OR IGNORE INTO name_keys (name_key) VALUES (?)", [.text(key)])
    }
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
          try database.run(
            "INSERT INTO accounts (name, password_hash) VALUES (?, ?)",
            [.text(wish.userName), .text(wish.passwordHash)]
          )
          try AccountStore.add(wish.userName, to: database)
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
    for key in UserNameRules.comparisonKeys(of: userName) {
      guard try database.run("SELECT 1 FROM name_keys WHERE name_key = ?", [.text(key)]).isEmpty else { return true }
    }
    return false
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
