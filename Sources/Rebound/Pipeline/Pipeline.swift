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
///     request.protected(by: weather)
///     let forecast = try await weather.run { try await client.forecast(for: city) }
///
/// The type of the values is that of the first stage if it has one; otherwise say `Pipeline<Forecast>`.
///
/// The order decides what happens: a timeout above a retry is for all attempts and their waits together, one below it for
/// each attempt. Each stage is the operator of its policy, so demand, cancellation and threads are those of the operators.
/// An order that makes no sense is refused with ``InvalidPipeline``.
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

  /// Measures time and waits; `nil` for ``TimeSource/current`` at each call.
  public let time: TimeSource?

  @usableFromInline typealias Operation = nonisolated(nonsending) @Sendable () async throws -> Output
  @usableFromInline typealias Stream = AnyPublisher<Output, any Error>

  /// The place of the outermost stage that may make the call more than once; `nil` if none does.
  let repeatingStage: Int?
  @usableFromInline let context: ExecutionContext
  // Made where the types of all stages are known, so that each is one loop.
  @usableFromInline let runs:
    nonisolated(nonsending) @Sendable (ExecutionContext, @escaping Operation) async throws -> Output
  @usableFromInline let stages: StageChain<Output>

  /// Puts policies together, and refuses an order that makes no sense.
  ///
  /// - Parameters:
  ///   - name: What it protects.
  ///   - repetition: Whether the calls may be made twice.
  ///   - events: Where its decisions are told, and those of the shared objects in it.
  ///   - time: Measures time and waits, also for the events if they have no time yet; `nil` for ``TimeSource/current`` at each
  ///     call.
  ///   - stages: The policies, outermost first.
  /// - Throws: ``InvalidPipeline``, with the stages that do not go together; what the closure throws.
  @inlinable
  public init<Stages: PipelineStage>(
    _ name: String,
    repetition: CallRepetition = .harmless,
    events: PolicyEvents? = nil,
    time: TimeSource? = nil,
    @PipelineBuilder<Output> stages: () throws -> Stages
  ) throws where Stages.Output == Output {
    let stages = try stages()
    let box = StageBox(stages)
    try self.init(
      name,
      repetition: repetition,
      traits: stages.traits,
      events: events,
      time: time,
      runs: { try await box.stage.run($0, ClosureCall($1)) },
      stages: stages.put(around: StageChain())
    )
    stages.register(with: events, pipeline: name)
  }

  @usableFromInline
  init(
    _ name: String,
    repetition: CallRepetition,
    traits: [StageTraits],
    events: PolicyEvents?,
    time: TimeSource?,
    runs: nonisolated(nonsending) @escaping @Sendable (ExecutionContext, @escaping Operation) async throws -> Output,
    stages: StageChain<Output>
  ) throws {
    try PipelineRules(pipeline: name, repetition: repetition, stages: traits).check()
    self.name = name
    descriptor = PipelineDescriptor(name: name, repetition: repetition, stages: traits.map(\.descriptor))
    repeatingStage = traits.firstIndex(where: \.makesCallAgain)
    self.events = events
    self.time = time
    if let time { events?.adopt(time) }
    self.runs = runs
    self.stages = stages
    context = ExecutionContext(time: time, origin: DecisionOrigin(source: name, events: events))
  }

  /// Runs an asynchronous function under the policies.
  ///
  /// The decisions and events are those of a publisher under the same pipeline.
  ///
  /// - Parameters:
  ///   - operation: The call; made as often as the policies say.
  /// - Returns: What the function returns, or what a policy puts in its place.
  /// - Throws: What the function throws, or the error of the policy that ended it. A cancel of the task reaches all that is
  ///   under way, and counts as a failure nowhere; before the run it is a `CancellationError`, and nothing begins.
  @inlinable
  public nonisolated(nonsending) func run(
    _ operation: nonisolated(nonsending) @escaping @Sendable () async throws -> Output
  ) async throws -> Output {
    try Task.checkCancellation()
    guard context.isListened else { return try await runs(context, operation) }
    return try await runHeard(operation)
  }

  /// The same with an identity, which what runs inside of it sees.
  @usableFromInline
  func runHeard(
    _ operation: nonisolated(nonsending) @escaping @Sendable () async throws -> Output,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Output {
    let execution = ExecutionContext(time: time, origin: context.origin?.newExecution)
    return try await DecisionOrigin.$current.withValue(execution.origin) {
      // A closure that knows nothing of it would leave the caller's actor.
      _ = isolation
      return try await runs(execution, operation)
    }
  }

  /// What stands in for a publisher that this would misuse, and tells it; `nil` for all others.
  @usableFromInline
  func refusal<Upstream: Publisher>(of type: Upstream.Type) -> Stream? {
    guard let misuse = misuse(by: type) else { return nil }
    events?.tell(misuse, of: name)
    return Fail(error: misuse).eraseToAnyPublisher()
  }

  /// Puts the policies around a publisher.
  @inlinable
  func protect<Upstream: Publisher>(_ upstream: Upstream) -> Stream
  where Upstream.Output == Output, Upstream.Failure == any Error {
    ProtectedPublisher(TypedUpstream(upstream, context.surroundings, stages)).eraseToAnyPublisher()
  }
}

extension Pipeline: CustomStringConvertible {
  /// The name, and one line for each stage, outermost first.
  public var description: String { descriptor.description }
}
