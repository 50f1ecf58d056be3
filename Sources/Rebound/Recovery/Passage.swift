import Combine

/// How far the stream between an upstream and one subscriber has come; kept under the lock of whoever stands in between.
///
/// What is replaced is handed out, so that it can be released with the lock open.
enum Passage<Downstream: Subscriber> {
  /// The upstream has not answered yet.
  case ready(Downstream)
  case running(Downstream, any Subscription)
  case over

  /// The upstream's subscription has come.
  ///
  /// - Returns: Who is to get one; `nil` if this one is to be cancelled, since nobody waits for it.
  mutating func begin(_ subscription: any Subscription) -> Downstream? {
    guard case .ready(let downstream) = self else { return nil }
    self = .running(downstream, subscription)
    return downstream
  }

  /// The subscription and the subscriber, while it runs.
  var ends: (downstream: Downstream, subscription: any Subscription)? {
    guard case .running(let downstream, let subscription) = self else { return nil }
    return (downstream, subscription)
  }

  /// Ends whatever goes on.
  ///
  /// - Returns: How far it had come.
  mutating func end() -> Passage {
    let before = self
    self = .over
    return before
  }
}
