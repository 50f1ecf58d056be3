import Foundation
import Testing
import WebServer

@testable import Backend

@Suite("AccountStore")
struct AccountStoreTests {
  private func wish(
    _ name: String,
    hash: String = "hash",
    isNameFree: Bool = true,
    key: String? = nil
  ) -> AccountStore.Registration {
    AccountStore.Registration(userName: name, passwordHash: hash, isNameFree: isNameFree, idempotencyKey: key)
  }

  @Test("a name is free until an account has it, in any spelling")
  func taken() throws {
    let store = try AccountStore(path: ":memory:")
    #expect(try !store.isTaken("Zoë-Ünal"))
    #expect(try store.register(wish("Zoë-Ünal")) == .created)
    for spelling in ["Zoë-Ünal", "zoë-ünal", "ZOE\u{308}-U\u{308}NAL"] {
      #expect(try store.isTaken(spelling))
      #expect(try store.register(wish(spelling)) == .taken)
    }
    #expect(try !store.isTaken("Zoe-Unal"))
  }

  @Test("a name that looks like another's isn't free")
  func twins() throws {
    let store = try AccountStore(path: ":memory:")
    #expect(try store.register(wish("paula")) == .created)
    for twin in ["раulа", "ｐａｕｌａ", "pau1a"] {
      #expect(try store.register(wish(twin)) == .taken)
    }
  }

  @Test("accounts from before names were compared by their looks keep their names; of twins, the oldest has it")
  func olderFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    let database = try Database(path: path)
    try database.run(
      "CREATE TABLE accounts (name_key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password_hash TEXT NOT NULL) STRICT"
    )
    for (key, name) in [("paula", "Paula"), ("раulа", "раulа"), ("peter", "Peter")] {
      try database.run(
        "INSERT INTO accounts (name_key, name, password_hash) VALUES (?, ?, 'hash')",
        [.text(key), .text(name)]
      )
    }

    let store = try AccountStore(path: path)
    for name in ["PAULA", "раulа", "pеter"] { #expect(try store.isTaken(name)) }
    #expect(try !store.isTaken("somebody"))
    #expect(try store.register(wish("somebody")) == .created)
    #expect(try AccountStore(path: path).isTaken("somebody"))
    let names = try database.run("SELECT name FROM accounts ORDER BY rowid")
    #expect(names == [[.text("Paula")], [.text("раulа")], [.text("Peter")], [.text("somebody")]])
  }

  @Test("a file whose names were compared by other looks gets the keys of these, and keeps its accounts")
  func olderKeys() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    let database = try Database(path: path)
    try database.run("CREATE TABLE accounts (name TEXT NOT NULL, password_hash TEXT NOT NULL) STRICT")
    try database.run("CREATE TABLE name_keys (name_key TEXT NOT NULL PRIMARY KEY) STRICT")
    let names: [[Database.Value]] = [[.text("Bo\u{501}\u{41C}o")], [.text("BodMo")], [.text("john  doe")]]
    for name in names { try database.run("INSERT INTO accounts (name, password_hash) VALUES (?, 'hash')", name) }
    try database.run("INSERT INTO name_keys (name_key) VALUES ('older key')")
    try database.run("PRAGMA user_version = 1")

    let store = try AccountStore(path: path)
    for name in ["bodmo", "BodMo", "john doe"] { #expect(try store.isTaken(name)) }
    #expect(try !store.isTaken("older key"))
    #expect(try database.run("SELECT name FROM accounts ORDER BY rowid") == names)
    #expect(try store.register(wish("somebody")) == .created)
    #expect(try AccountStore(path: path).isTaken("somebody"))
  }

  @Test("a name that can't be had isn't given")
  func notFree() throws {
    let store = try AccountStore(path: ":memory:")
    #expect(try store.register(wish("page", isNameFree: false)) == .taken)
    #expect(try !store.isTaken("page"))
  }

  @Test("an answer to a key is kept, whether it was yes or no")
  func idempotency() throws {
    let store = try AccountStore(path: ":memory:")
    #expect(try store.answer(to: "k1") == nil)
    #expect(try store.register(wish("sjefke", hash: "h1", key: "k1")) == .created)
    #expect(try store.register(wish("sjefke", hash: "h2", key: "k2")) == .taken)

    let yes = AccountStore.RecordedAnswer(userName: "sjefke", passwordHash: "h1", wasCreated: true)
    let no = AccountStore.RecordedAnswer(userName: "sjefke", passwordHash: "h2", wasCreated: false)
    #expect(try store.answer(to: "k1") == yes)
    #expect(try store.answer(to: "k2") == no)
    #expect(try store.register(wish("another", key: "k1")) == .answeredBefore(yes))
    #expect(try !store.isTaken("another"))
  }

  @Test("accounts and answers outlive the process, in a file for its user only")
  func durable() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("new/folder/accounts.sqlite")
    #expect(try AccountStore(path: path).register(wish("sjefke", key: "k1")) == .created)

    let store = try AccountStore(path: path)
    #expect(try store.isTaken("SJEFKE"))
    #expect(try store.answer(to: "k1")?.wasCreated == true)
    let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
  }

  @Test("the database is in WAL mode")
  func journal() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    _ = try AccountStore(path: path)
    #expect(try Database(path: path).run("PRAGMA journal_mode") == [[.text("wal")]])
  }

  @Test("of many stores on one file that want one name at once, one gets it")
  func concurrent() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    let stores = try (0..<4).map { _ in try AccountStore(path: path) }
    let outcomes = Locked<[AccountStore.Outcome]>([])
    DispatchQueue.concurrentPerform(iterations: 16) { number in
      do {
        let outcome = try stores[number % 4].register(wish("sjefke", hash: "\(number)"))
        outcomes.withLock { $0.append(outcome) }
      } catch {
        Issue.record(error)
      }
    }
    #expect(outcomes.withLock { $0.filter { $0 == .created }.count } == 1)
    #expect(outcomes.withLock { $0.filter { $0 == .taken }.count } == 15)
  }

  @Test("a file that isn't a database, and a folder that can't be made, are errors in words")
  func unusable() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("text")
    try Data(repeating: 0x61, count: 4096).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: DatabaseError.self) { try AccountStore(path: path) }
    #expect(error?.reason == "file is not a database")
    let below = #expect(throws: DatabaseError.self) { try AccountStore(path: path + "/accounts.sqlite") }
    #expect(below?.description.hasPrefix("The database couldn't create the folder \(path): ") == true)
  }
}
