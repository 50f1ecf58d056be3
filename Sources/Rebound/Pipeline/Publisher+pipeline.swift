import Combine

extension Publisher where Output: Sendable {
  /// Puts the policies of a pipeline around a publisher.
  ///
  ///     request.protected(by: weather)
  ///
  /// - Parameter pipeline: The policies, which also have the time.
  ///
  /// - Demand: As the operators of the stages have it; for most it passes up.
  /// - Failure: The upstream's, or the error of the policy that ended it; ``UnrepeatableUpstream``, at once, if the
  ///   upstream can run only once and the pipeline would run it again.
  /// - Threads: Where the upstream sends, or on the time source's, as the operators of the stages have it.
  @inlinable
  public func protected(by pipeline: Pipeline<Output>) -> AnyPublisher<Output, any Error> {
    if let refusal = pipeline.refusal(of: Self.self) { return refusal }
    return pipeline.protect(mapError { $0 as any Error })
  }

  /// Puts the policies of a pipeline around a publisher of any errors.
  ///
  /// See ``Combine/Publisher/protected(by:)-1yquw``.
  ///
  /// - Parameter pipeline: The policies, which also have the time.
  @inlinable
  public func protected(by pipeline: Pipeline<Output>) -> AnyPublisher<Output, any Error> where Failure == any Error {
    if let refusal = pipeline.refusal(of: Self.self) { return refusal }
    return pipeline.protect(self)
  }

  /// Puts the policies of a pipeline around a publisher, and keeps the type of its failures.
  ///
  ///     request.protected(by: weather) { $0 as? NetworkFailure ?? .other($0) }
  ///
  /// See ``Combine/Publisher/protected(by:)-1yquw``.
  ///
  /// - Parameters:
  ///   - pipeline: The policies.
  ///   - failure: The failure for an error: one of the upstream's own, or one of a policy.
  public func protected(
    by pipeline: Pipeline<Output>,
    failingWith failure: @escaping (any Error) -> Failure
  ) -> AnyPublisher<Output, Failure> {
    protected(by: pipeline).mapError(failure).eraseToAnyPublisher()
  }
}
