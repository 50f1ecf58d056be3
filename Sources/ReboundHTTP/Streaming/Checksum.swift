import Foundation

/// Says whether a file that was downloaded is the one that was meant.
///
///     try await client.download(Prices(), to: file, verifying: .sha256("9f86d081…"))
public struct Checksum: Sendable {
  let verify: @Sendable (URL) throws -> Void

  private init(verify: @escaping @Sendable (URL) throws -> Void) {
    self.verify = verify
  }

  /// The SHA-256 digest of the whole file (FIPS 180-4), in hexadecimal digits of either case.
  public static func sha256(_ digest: String) -> Checksum {
    Checksum { file in
      let found = try SHA256Digest.hexadecimal(ofFile: file)
      if found != digest.lowercased() { throw ChecksumMismatch(expected: digest.lowercased(), found: found) }
    }
  }

  /// A check of one's own.
  ///
  /// - Parameter matches: Whether the file at this place is the one that was meant. Called on a queue of the download's own.
  public static func custom(_ matches: @escaping @Sendable (URL) throws -> Bool) -> Checksum {
    Checksum { file in
      if try !matches(file) { throw ChecksumMismatch(expected: nil, found: nil) }
    }
  }
}

/// What was downloaded is not the file that was meant; nothing of it is kept.
public struct ChecksumMismatch: Error, Hashable, CustomStringConvertible {
  /// The digest that was expected; `nil` for a check of the caller's own.
  public let expected: String?
  /// The digest of what came.
  public let found: String?

  /// What happened, with both digests, and what to do next.
  public var description: String {
    guard let expected, let found else { return "the file is not the one that was meant; load it once more" }
    return "the file's SHA-256 is \(found), not \(expected); load it once more, or look where that is from"
  }
}

extension ChecksumMismatch: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.mismatch).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.mismatch).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.mismatch).recoverySuggestion }
}
