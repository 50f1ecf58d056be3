extension Result {
  /// A publisher of the value and the end, or of the failure.
  @inlinable
  public var publisher: Result<Success, Failure>.Publisher {
    Publisher(self)
  }

  /// A publisher of one value and the end, or of a failure.
  public struct Publisher: Combine.Publisher {
    /// The kind of value published.
    public typealias Output = Success

    /// The value to publish, or the error to fail with.
    public let result: Result<Success, Failure>

    /// Makes a publisher of a result.
    @inlinable
    public init(_ result: Result<Success, Failure>) {
      self.result = result
    }

    /// Makes a publisher of one value.
    @inlinable
    public init(_ output: Success) {
      self.init(.success(output))
    }

    /// Makes a publisher that fails.
    @inlinable
    public init(_ failure: Failure) {
      self.init(.failure(failure))
    }

    /// Attaches a subscriber, which gets value and end upon its first request; a failure comes at once.
    @inlinable
    public func receive<S>(subscriber: S) where Success == S.Input, Failure == S.Failure, S: Subscriber {
      switch result {
      case .success(let output):
        subscriber.receive(subscription: ScalarSubscription(output, label: "Once", to: subscriber))
      case .failure(let error):
        subscriber.receive(subscription: EmptySubscription.shared)
        subscriber.receive(completion: .failure(error))
      }
    }
  }
}

extension Result.Publisher: Equatable where Success: Equatable, Failure: Equatable {}
