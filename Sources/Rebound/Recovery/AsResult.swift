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
  public func asResult() -> Publishers.AsResult<Self> {
    Publishers.AsResult(upstream: self)
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
  )
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<Publishers.AsResult<Inner>, Failure>,
      Publishers.Map<Self, Publishers.SetFailureType<Publishers.AsResult<Inner>, Failure>>
    >
  {
    map { transform($0).asResult().setFailureType(to: Failure.self) }.switchToLatest()
  }
}

extension Publishers {
  /// Publishes values and the failure of another publisher as results.
  ///
  /// Made by ``Combine/Publisher/asResult()``.
  public struct AsResult<Upstream: Publisher>: Publisher {
    /// A value or the failure of the upstream.
    public typealias Output = Result<Upstream.Output, Upstream.Failure>
    /// A failure is a value here.
    public typealias Failure = Never

    /// Where the values come from.
    public let upstream: Upstream

    /// Makes a publisher of results.
    ///
    /// - Parameter upstream: Where the values come from.
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Subscribes to the upstream on behalf of this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.subscribe(
        EventExecution<Upstream, S>(
          named: "AsResult",
          downstream: subscriber,
          value: Output.success,
          terminal: { if case .failure(let error) = $0 { .failure(error) } else { nil } }
        )
      )
    }
  }
}

extension Publishers.AsResult: Equatable where Upstream: Equatable {}
