import Testing

@testable import Backend

@Suite("PasswordHasher")
struct PasswordHasherTests {
  private let hasher: PasswordHasher

  init() throws {
    hasher = try PasswordHasher(cost: .minimal)
  }

  @Test("a password matches its own hash and no other does", arguments: ["correct horse", "Pässwörd", "a\0b456789"])
  func verify(password: String) throws {
    let hash = try hasher.hash(password)
    #expect(hasher.verify(password, against: hash))
    #expect(!hasher.verify(password + "x", against: hash))
    #expect(!hasher.verify("a", against: hash))
  }

  @Test("hashes are argon2id, and salted")
  func salted() throws {
    let first = try hasher.hash("correct horse")
    let second = try hasher.hash("correct horse")
    #expect(first.hasPrefix("$argon2id$"))
    #expect(first != second)
  }

  @Test("the usual cost is 64 MiB, gone over twice")
  func interactive() {
    #expect(PasswordCost.interactive == PasswordCost(operations: 2, memory: 64 << 20))
  }

  @Test("a cost that can't be paid is an error in words")
  func tooMuch() throws {
    let hasher = try PasswordHasher(cost: PasswordCost(operations: 1, memory: Int.max))
    let error = #expect(throws: PasswordHashError.self) { try hasher.hash("correct horse") }
    #expect(error?.description.contains("\(Int.max) bytes") == true)
  }
}
