/// Stops the process where Apple's Combine does: when a publisher or a subscriber breaks the rules of the protocol.
///
/// - Parameters:
///   - operation: the operator that noticed.
///   - event: what it received, as in "received a value before its subscription".
///   - advice: what the author of the publisher or subscriber has to do.
@usableFromInline
func violation(_ operation: String, _ event: String, advice: String) -> Never {
  // Not a precondition, whose words an optimised program leaves out.
  fatalError("Combine: '\(operation)' \(event). \(advice)")
}

extension Subscribers.Demand {
  /// Stops the process on a request for no values, which Apple's Combine takes for an error here.
  @inlinable
  func mustNotBeNone(_ operation: @autoclosure () -> String) {
    if self == .none {
      violation(
        operation(),
        "was asked for no values",
        advice: "A subscriber must call request(_:) with a demand above zero."
      )
    }
  }
}
