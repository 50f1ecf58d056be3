import Combine
import Dispatch

extension Publisher where Output: Sendable {
  /// Puts the policies of a pipeline around a publisher.
  ///
  ///     request.protected(by: weather, scheduler: queue)
  ///
  /// - Parameters:
  ///   - pipeline: The policies.
  ///   - scheduler: Measures time and waits; `DispatchQueue.main` unless told otherwise. A program that
  ///     blocks its main thread must name another one.
  ///   - options: For the scheduler.
  ///
  /// - Demand: As the operators of the stages have it; for most it passes up.
  /// - Failure: The upstream's, or the error of the policy that ended it; ``UnrepeatableUpstream``, at once, if the
  ///   upstream can run only once and the pipeline would run it again.
  /// - Threads: Where the upstream sends, or on the scheduler, as the operators of the stages have it.
  public func protected<Context: Scheduler>(
    by pipeline: Pipeline<Output>,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> AnyPublisher<Output, any Error> {
    if let misuse = pipeline.descriptor.misuse(by: Self.self) {
      pipeline.events?.tell(misuse, of: pipeline.name)
      return Fail(error: misuse).eraseToAnyPublisher()
    }
    let upstream = mapError { $0 as any Error }.eraseToAnyPublisher()
    return pipeline.protect(upstream, scheduler: scheduler, options: options)
  }

  /// Puts the policies of a pipeline around a publisher, and keeps the type of its failures.
  ///
  ///     request.protected(by: weather, scheduler: queue) { $0 as? NetworkFailure ?? .other($0) }
  ///
  /// See ``Combine/Publisher/protected(by:scheduler:options:)``.
  ///
  /// - Parameters:
  ///   - pipeline: The policies.
  ///   - scheduler: Measures time and waits.
  ///   - options: For the scheduler.
  ///   - failure: The failure for an error: one of the upstream's own, or one of a policy.
  public func protected<Context: Scheduler>(
    by pipeline: Pipeline<Output>,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    failingWith failure: @escaping (any Error) -> Failure
  ) -> AnyPublisher<Output, Failure> {
    protected(by: pipeline, scheduler: scheduler, options: options).mapError(failure).eraseToAnyPublisher()
  }
}
