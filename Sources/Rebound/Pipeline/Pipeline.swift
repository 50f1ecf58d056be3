import Combine

/// Whether a call may be made twice.
public enum CallRepetition: Hashable, Sendable {
  /// To make the call again does no harm: GET, PUT, DELETE, or a call with an idempotency key.
  case harmless
  /// To make the call again may do something twice: POST, PATCH. A ``Hedge`` is refused, and a ``Retry`` must say for which
  /// failures.
  case harmful
}

/// Several policies around one call, outermost first, checked when they are put together.
///
///     let events = PolicyEvents()
///     let weather = try Pipeline("weather", events: events) {
///       Fallback { _ in Forecast.empty }
///       Timeout(total: .seconds(10))
///       Retry(.standard, budget: budget)
///       breaker
///       Timeout(attempt: .seconds(3))
///     }
///     request.protected(by: weather, scheduler: queue)
///     let forecast = try await weather.run { try await client.forecast(for: city) }
///
/// The type of the values is that of the first stage if it has one; otherwise say `Pipeline<Forecast>`.
///
/// The order decides what happens: a timeout above a retry is for all attempts and their waits together, one below it for
/// each attempt. Each stage is the operator of its policy, so demand, cancellation and threads are those of the operators.
/// An order that cannot be meant is refused with ``InvalidPipeline``.
///
/// A pipeline is a plain value. State of one execution is made for each subscription and each run; a breaker, a bulkhead,
/// a limiter, a budget and a cache are shared by all pipelines that hold them. Make those once and keep them: a breaker
/// that is made for each call never opens.
public struct Pipeline<Output: Sendable>: Sendable {
  /// What it protects, for its events and errors.
  public let name: String
  /// What it is made of: for logs, and for tests that assert its shape.
  public let descriptor: PipelineDescriptor
  /// Where its decisions are told; `nil` if nowhere.
  public let events: PolicyEvents?

  private let stages: [PipelineStage<Output>]

  /// Puts policies together, and refuses an order that makes no sense.
  ///
  /// - Parameters:
  ///   - name: What it protects.
  ///   - repetition: Whether the calls may be made twice.
  ///   - events: Where its decisions are told, and those of the shared objects in it.
  ///   - stages: The policies, outermost first.
  /// - Throws: ``InvalidPipeline``, with the stages that do not go together; what the closure throws.
  public init(
    _ name: String,
    repetition: CallRepetition = .harmless,
    events: PolicyEvents? = nil,
    @PipelineBuilder<Output> stages: () throws -> [PipelineStage<Output>]
  ) throws {
    let stages = try stages()
    try PipelineRules(pipeline: name, repetition: repetition, stages: stages.map(\.traits)).check()
    self.name = name
    self.events = events
    self.stages = stages
    descriptor = PipelineDescriptor(name: name, repetition: repetition, stages: stages.map(\.traits.descriptor))
    if let events {
      for stage in stages { stage.work.register(with: events, pipeline: name) }
    }
  }

  /// Runs an asynchronous function under the policies.
  ///
  /// The decisions and events are those of a publisher under the same pipeline.
  ///
  /// - Parameters:
  ///   - clock: Measures time and waits.
  ///   - isolation: The caller's.
  ///   - operation: The call; made as often as the policies say.
  /// - Returns: What the function returns, or what a policy puts in its place.
  /// - Throws: What the function throws, or the error of the policy that ended it. A cancel of the task reaches all that is
  ///   under way, and counts as a failure nowhere.
  public func run<C: Clock>(
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable () async throws -> Output
  ) async throws -> Output where C.Duration == Duration {
    let surroundings = StageSurroundings(pipeline: name, events: events)
    let call = stages.reversed().reduce(operation) { call, stage in
      stage.work.protect(call, in: surroundings, clock: clock)
    }
    return try await call()
  }

  /// Puts the policies around a publisher.
  func protect<Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    scheduler: Context,
    options: Context.SchedulerOptions?
  ) -> AnyPublisher<Output, any Error> {
    let waiting = StageScheduler(scheduler: scheduler, options: options)
    let protected = stages.reversed().reduce({ _ in upstream }) {
      (inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>, stage) in
      { surroundings in stage.work.protect(in: surroundings, on: waiting, inside) }
    }
    return protected(StageSurroundings(pipeline: name, events: events))
  }
}

extension Pipeline: CustomStringConvertible {
  /// The name, and one line for each stage, outermost first.
  public var description: String { descriptor.description }
}
