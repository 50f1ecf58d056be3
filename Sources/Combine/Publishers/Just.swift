/// A publisher of one value and the end.
public struct Just<Output>: Publisher {
  /// It can't fail.
  public typealias Failure = Never

  /// The value to publish.
  public let output: Output

  /// Makes a publisher of one value.
  @inlinable
  public init(_ output: Output) {
    self.output = output
  }

  /// Attaches a subscriber, which gets value and end upon its first request.
  @inlinable
  public func receive<S>(subscriber: S) where Output == S.Input, S: Subscriber, S.Failure == Never {
    subscriber.receive(subscription: ScalarSubscription(output, label: "Just", to: subscriber))
  }
}

extension Just: Equatable where Output: Equatable {}
