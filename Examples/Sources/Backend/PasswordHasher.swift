import CSodium
import Foundation

/// How much work a password hash takes, for the server as for whoever guesses.
public struct PasswordCost: Sendable, Equatable {
  /// How often the memory is gone over.
  public let operations: UInt64
  /// How much memory a hash takes, in bytes.
  public let memory: Int

  /// Makes a cost.
  public init(operations: UInt64, memory: Int) {
    self.operations = operations
    self.memory = memory
  }

  /// libsodium's choice for logging in while a person waits: 64 MiB, gone over twice.
  public static let interactive = PasswordCost(
    operations: UInt64(crypto_pwhash_opslimit_interactive()),
    memory: crypto_pwhash_memlimit_interactive()
  )
  /// The least that argon2id can do.
  ///
  /// For tests only.
  public static let minimal = PasswordCost(
    operations: UInt64(crypto_pwhash_opslimit_min()),
    memory: crypto_pwhash_memlimit_min()
  )
}

/// Why a password couldn't be hashed.
enum PasswordHashError: Error, CustomStringConvertible {
  case libraryUnavailable
  case notEnoughMemory(bytes: Int)

  var description: String {
    switch self {
    case .libraryUnavailable: "libsodium couldn't be initialised: the system gave it no random numbers"
    case .notEnoughMemory(let bytes): "There wasn't enough memory to hash a password, which takes \(bytes) bytes"
    }
  }
}

/// Hashes passwords with argon2id, by libsodium.
///
/// A hash holds its own salt and cost.
struct PasswordHasher: Sendable {
  private let cost: PasswordCost

  init(cost: PasswordCost) throws(PasswordHashError) {
    guard sodium_init() >= 0 else { throw .libraryUnavailable }
    self.cost = cost
  }

  /// Hashes a password.
  ///
  /// Takes as long as `cost` says.
  func hash(_ password: String) throws(PasswordHashError) -> String {
    var hash = [CChar](repeating: 0, count: crypto_pwhash_strbytes())
    let password = password.utf8.map(CChar.init(bitPattern:))
    guard crypto_pwhash_str(&hash, password, UInt64(password.count), cost.operations, cost.memory) == 0 else {
      throw .notEnoughMemory(bytes: cost.memory)
    }
    return String(decoding: hash.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Whether a password is the one that was hashed.
  ///
  /// Takes as long as hashing did.
  func verify(_ password: String, against hash: String) -> Bool {
    let password = password.utf8.map(CChar.init(bitPattern:))
    return crypto_pwhash_str_verify(hash, password, UInt64(password.count)) == 0
  }
}
