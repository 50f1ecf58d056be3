/// A publisher that fails at once.
public struct Fail<Output, Failure: Error>: Publisher {
  /// The error to fail with.
  public let error: Failure

  /// Makes a publisher that fails.
  @inlinable
  public init(error: Failure) {
    self.error = error
  }

  /// Makes a publisher that fails, of a kind of values named outright.
  ///
  /// - Parameters:
  ///   - outputType: the kind of values that do not come.
  ///   - failure: the error to fail with.
  @inlinable
  public init(outputType: Output.Type, failure: Failure) {
    self.init(error: failure)
  }

  /// Attaches a subscriber, which gets the error without asking.
  @inlinable
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    subscriber.receive(subscription: EmptySubscription.shared)
    subscriber.receive(completion: .failure(error))
  }
}

extension Fail: Equatable where Failure: Equatable {}
