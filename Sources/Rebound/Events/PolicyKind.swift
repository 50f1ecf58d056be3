/// The kind of a policy: of a stage of a ``Pipeline``, of a ``PolicyDecision`` and of a ``PolicyGauge``.
///
///     extension PolicyKind {
///       static let throttle = PolicyKind("throttle")
///     }
///
/// Two kinds of one name are the same.
public struct PolicyKind: Hashable, Sendable, CustomStringConvertible {
  /// The kind in words: "circuit breaker".
  public let description: String
  /// The kind as labels of metrics have it: "circuit_breaker".
  public let word: String

  /// Makes a kind.
  ///
  /// - Parameter name: The kind in words, in lower case.
  public init(_ name: String) {
    description = name
    word = name.asLabel
  }
}
