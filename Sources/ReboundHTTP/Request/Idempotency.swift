/// Whether a request may be sent twice.
///
/// A request that is not idempotent is sent again only if the failure proves that the server saw nothing of the first.
/// An outbox gives each request a key: there, only ``notIdempotent`` keeps it from being sent again.
public enum Idempotency: Hashable, Sendable {
  /// As the method has it (RFC 9110 §9.2.2); the default.
  case byMethod
  /// Yes, whatever the method.
  case idempotent
  /// No, whatever the method.
  case notIdempotent
  /// Yes, because the server knows a repetition by this key, sent in the Idempotency-Key field of every attempt.
  case key(String)
  /// As ``key(_:)``, with a key of its own for each call, the same for all attempts that ``Retrying`` makes of it.
  ///
  /// A retry around the whole call makes another call, with another key. So its failure says of the call that it is as
  /// idempotent as its method. For such a retry, draw a key once, and say ``key(_:)``.
  case generatedKey
}
