/// An error that knows how long to wait before the next try, because the server said so.
///
/// A retry policy takes the hint as a floor: it never comes back earlier than asked. See ``RetryPolicy/maxHint`` for
/// hints that are too long to wait for.
public protocol RetryAfterProviding: Error {
  /// The pause that was asked for, counted from the moment of the error; `nil` if nothing was said.
  ///
  /// HTTP says it in the Retry-After field (RFC 9110 §10.2.3).
  var retryAfter: Duration? { get }
}
