/// Whether a request may be sent twice.
///
/// A request that is not idempotent is sent again only if the failure proves that the server saw nothing of the first.
public enum Idempotency: Hashable, Sendable {
  /// As the method has it (RFC 9110 §9.2.2); the default.
  case byMethod
  /// Yes, whatever the method.
  case idempotent
  /// No, whatever the method.
  case notIdempotent
  /// Yes, because the server knows a repetition by this key, sent in the Idempotency-Key field of every attempt.
  case key(String)
  /// As ``key(_:)``, with a key of its own for each call, the same for all attempts of the call.
  case generatedKey
}
