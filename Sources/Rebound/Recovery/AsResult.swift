import Combine

extension Publisher {
  /// Turns a failure into a value, so that what stands below lives on with it.
  ///
  ///     username
  ///       .map { service.isAvailable($0).asResult() }   // a failed request is a result like any other
  ///       .switchToLatest()
  ///
  /// On a stream that is to survive an error, use it inside: the stream that failed is over, whatever its failure was
  /// turned into. ``Combine/Publisher/flatMapLatestResult(_:)`` does that.
  ///
  /// - Demand: Passes up. The failure is a value too, and waits until one is requested. Values beyond the demand are
  ///   dropped.
  /// - Failure: Never; a failure becomes `.failure`, followed by the finish.
  /// - Threads: Where the upstream sends; a failure that waited for a request comes where the request is made.
  public func asResult() -> some Publisher<Result<Output, Failure>, Never> {
    handle("AsResult") { value, emitter in
      emitter.sendIfRequested(.success(value))
    } completion: { end, emitter in
      if case .failure(let error) = end { emitter.send(.failure(error)) }
      emitter.send(completion: .finished)
    }
  }

  /// For each value, subscribes to a new publisher in place of the one before, and publishes its values and its failure
  /// as results.
  ///
  ///     username
  ///       .flatMapLatestResult { service.isAvailable($0) }   // a stale answer never wins, an error ends nothing
  ///
  /// - Parameter transform: Makes the publisher for a value.
  ///
  /// - Demand: Asks the upstream for everything, and the publisher of the moment for what is owed.
  /// - Failure: Only the upstream's own. A failure of a publisher made here becomes `.failure`.
  /// - Threads: Where the publisher of the moment sends.
  public func flatMapLatestResult<Inner: Publisher>(
    _ transform: @escaping (Output) -> Inner
  ) -> some Publisher<Result<Inner.Output, Inner.Failure>, Failure> {
    map { transform($0).asResult().setFailureType(to: Failure.self) }.switchToLatest()
  }
}
