/// A publisher of no values, which ends at once or never.
public struct Empty<Output, Failure: Error>: Publisher, Equatable {
  /// Whether the end comes right after the subscription; if not, it never comes.
  public let completeImmediately: Bool

  /// Makes a publisher without values.
  ///
  /// - Parameter completeImmediately: whether it ends at once; if not, it never ends.
  @inlinable
  public init(completeImmediately: Bool = true) {
    self.completeImmediately = completeImmediately
  }

  /// Makes a publisher without values, of types named outright.
  ///
  /// - Parameters:
  ///   - completeImmediately: whether it ends at once; if not, it never ends.
  ///   - outputType: the kind of values that do not come.
  ///   - failureType: the kind of error that does not come.
  @inlinable
  public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) {
    self.init(completeImmediately: completeImmediately)
  }

  /// Attaches a subscriber, which gets at most the end, without asking.
  @inlinable
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    subscriber.receive(subscription: EmptySubscription.shared)
    if completeImmediately { subscriber.receive(completion: .finished) }
  }
}
