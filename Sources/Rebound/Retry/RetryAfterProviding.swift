import StreamSupport

/// An error that knows how long to wait before the next try, because the server said so.
///
/// A retry policy takes the hint as a floor: it never comes back earlier than asked. See ``RetryPolicy/maxHint`` for
/// hints that are too long to wait for.
public protocol RetryAfterProviding: Error {
  /// The pause that was asked for, counted from the moment of the error; `nil` if nothing was said.
  ///
  /// HTTP says it in the Retry-After field (RFC 9110 §10.2.3).
  var retryAfter: Duration? { get }
  /// Whether a policy of this program has refused a call, be it that there is no credential for it; `false` if nothing else is
  /// said.
  ///
  /// Then the pause is the policy's own, and says nothing about how often the service may be called.
  var isRefusal: Bool { get }
  /// Whether the call may be made again without anybody asking for it: nothing was done, or doing it twice is as good as
  /// once. `true` if nothing else is said.
  ///
  /// A screen counts no pause down to another try of what may not, and leaves it to the person in front of it.
  var mayBeRepeated: Bool { get }
}

extension RetryAfterProviding {
  /// No policy of this program has refused it.
  public var isRefusal: Bool { false }
  /// It may be made again.
  public var mayBeRepeated: Bool { true }
}

/// The pause that an error asks for; `nil` if it asks for none.
///
/// To find that a type does not say so takes longer than all else that is done about a failure, and failures come in
/// rows: so the last such type is remembered.
@_specialize(where Failure == any Error)
func pause<Failure: Error>(askedBy error: Failure) -> Duration? {
  #if !canImport(Darwin)  // There an object of another type may stand for an error.
    let type = UInt64(UInt(bitPattern: ObjectIdentifier(exactType(of: error))))
    if type == typeThatAsksForNone.value { return nil }
  #endif
  if let provider = error as? any RetryAfterProviding { return provider.retryAfter }
  #if !canImport(Darwin)
    typeThatAsksForNone.set(type)
  #endif
  return nil
}

#if !canImport(Darwin)
  private let typeThatAsksForNone = AtomicWord()
#endif

extension RetryAfterProviding {
  /// When a person should try again, as in "try again in 9 seconds".
  var suggestionToTryAgain: String {
    guard let retryAfter, retryAfter <= .seconds(120) else { return "Try again later." }
    let seconds = Int(retryAfter.inSeconds.rounded(.up))
    return seconds <= 1 ? "Try again in a moment." : "Try again in \(seconds) seconds."
  }
}
