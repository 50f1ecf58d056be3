import Testing

@testable import Backend

@Suite("Database")
struct DatabaseTests {
  @Test("values come back as they were bound")
  func values() throws {
    let database = try Database(path: ":memory:")
    let values: [Database.Value] = [.text("Zoë\0 'quoted'"), .text(""), .integer(-7), .null]
    #expect(try database.run("SELECT ?, ?, ?, ?", values) == [values])
  }

  @Test("a transaction that throws leaves nothing behind")
  func rollback() throws {
    let database = try Database(path: ":memory:")
    try database.run("CREATE TABLE t (a INTEGER NOT NULL) STRICT")
    #expect(throws: DatabaseError.self) {
      try database.transaction { () throws(DatabaseError) in
        try database.run("INSERT INTO t VALUES (1)")
        try database.run("INSERT INTO t VALUES (?)", [.null])
      }
    }
    #expect(try database.run("SELECT count(*) FROM t") == [[.integer(0)]])
    _ = try database.transaction { () throws(DatabaseError) in try database.run("INSERT INTO t VALUES (2)") }
    #expect(try database.run("SELECT a FROM t") == [[.integer(2)]])
  }

  @Test("errors say what was to be done and why it couldn't be")
  func errors() throws {
    let database = try Database(path: ":memory:")
    let error = #expect(throws: DatabaseError.self) { try database.run("SELECT * FROM absent") }
    #expect(error?.description == "The database couldn't run 'SELECT * FROM absent': no such table: absent")
    let opening = #expect(throws: DatabaseError.self) { try Database(path: "/nowhere/at/all.sqlite") }
    #expect(opening?.localizedDescription.hasPrefix("The database couldn't open /nowhere/at/all.sqlite: ") == true)
  }
}
