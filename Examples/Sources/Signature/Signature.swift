import CSodium
import Foundation

/// What a request is signed with: an HMAC (RFC 2104, with SHA-256) over method, path, date and the digest of the body.
///
/// Client and server make it on their own; they share nothing but the key.
public struct Signature: Equatable, Sendable {
  /// The names of the header fields.
  public enum Field {
    /// The seconds since 1970 at which it was made.
    public static let date = "X-Date"
    /// The digest of the body (RFC 9530).
    public static let digest = "Content-Digest"
    /// The signature itself.
    public static let signature = "Signature"
  }

  /// The signature as it stands in its header field.
  public let text: String

  /// Signs.
  ///
  /// - Parameters:
  ///   - method: As it stands in the request line.
  ///   - path: Encoded, with the query.
  ///   - date: As it stands in ``Field/date``.
  ///   - digest: As it stands in ``Field/digest``.
  ///   - key: The shared key, of any length.
  public init(method: String, path: String, date: String, digest: String, key: Data) {
    let message = Array([method, path, date, digest].joined(separator: "\n").utf8)
    var state = crypto_auth_hmacsha256_state()
    crypto_auth_hmacsha256_init(&state, Array(key), key.count)
    crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
    var code = [UInt8](repeating: 0, count: crypto_auth_hmacsha256_bytes())
    crypto_auth_hmacsha256_final(&state, &code)
    text = Data(code).base64EncodedString()
  }

  /// Whether a text is this signature; takes as long for a wrong one as for a right one.
  public func isEqual(to other: String) -> Bool {
    let (mine, theirs) = (Array(text.utf8), Array(other.utf8))
    return mine.count == theirs.count && sodium_memcmp(mine, theirs, mine.count) == 0
  }
}

/// The digest of a body that comes in pieces, as RFC 9530 writes it.
public struct BodyDigest {
  private var state = crypto_hash_sha256_state()

  /// Begins.
  public init() {
    crypto_hash_sha256_init(&state)
  }

  /// Takes the next piece.
  public mutating func take(_ piece: Data) {
    crypto_hash_sha256_update(&state, Array(piece), UInt64(piece.count))
  }

  /// What stands in the header field, for all that was taken.
  public func text() -> String {
    var state = state
    var digest = [UInt8](repeating: 0, count: crypto_hash_sha256_bytes())
    crypto_hash_sha256_final(&state, &digest)
    return "sha-256=:\(Data(digest).base64EncodedString()):"
  }
}
