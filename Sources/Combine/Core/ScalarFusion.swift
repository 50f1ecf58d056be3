extension Publisher {
  /// The value of a `Just`, by which the operators that flatten spare themselves a subscription; nil for all else.
  ///
  /// Where the type of the publisher is known to the compiler, this costs nothing.
  @inlinable @inline(__always)
  var scalarValue: Output? {
    if Self.self == Just<Output>.self { return (self as? Just<Output>)?.output }
    if Self.self == Publishers.SetFailureType<Just<Output>, Failure>.self {
      return (self as? Publishers.SetFailureType<Just<Output>, Failure>)?.upstream.output
    }
    return nil
  }
}
