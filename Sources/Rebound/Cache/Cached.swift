/// A value, and where it comes from: so that a screen can say "saved copy".
public struct Cached<Value> {
  /// Where a value comes from.
  public enum Source: Sendable {
    /// It was fetched just now.
    case network
    /// It was kept; for what reason it is delivered although it is stale, or `nil` if it is fresh.
    case cache(stale: StaleReason?)
  }

  /// Why a stale value is delivered.
  public enum StaleReason: Sendable {
    /// A new one is being fetched behind the subscriber's back.
    case revalidating
    /// A new one could not be had.
    case error(any Error)
  }

  /// What was asked for.
  public let value: Value
  /// How long ago it was fetched.
  public let age: Duration
  /// Where it comes from.
  public let source: Source

  /// Describes a value and where it comes from.
  @inlinable
  public init(value: Value, age: Duration = .zero, source: Source = .network) {
    self.value = value
    self.age = age
    self.source = source
  }

  /// Whether it is older than it should be.
  public var isStale: Bool {
    if case .cache(stale: .some) = source { true } else { false }
  }

  /// Another value from the same place.
  public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Cached<Other> {
    let other: Cached<Other>.Source =
      switch source {
      case .network: .network
      case .cache(stale: .none): .cache(stale: nil)
      case .cache(stale: .revalidating): .cache(stale: .revalidating)
      case .cache(stale: .error(let error)): .cache(stale: .error(error))
      }
    return Cached<Other>(value: try transform(value), age: age, source: other)
  }
}

extension Cached: Sendable where Value: Sendable {}

extension Cached.Source: CustomStringConvertible {
  /// The source in words: "saved copy, since the network failed (timedOut)".
  public var description: String {
    switch self {
    case .network: "network"
    case .cache(stale: .none): "cache"
    case .cache(stale: .revalidating): "saved copy, while a new one is fetched"
    case .cache(stale: .error(let error)): "saved copy, since no new one could be had (\(error))"
    }
  }
}
