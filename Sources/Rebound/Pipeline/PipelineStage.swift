import Combine

/// One policy of a ``Pipeline``, as ``PipelineBuilder`` collects them.
public struct PipelineStage<Output: Sendable>: Sendable {
  let work: any StageWork<Output>

  var traits: StageTraits { work.traits }

  init(_ work: any StageWork<Output>) {
    self.work = work
  }

  init(_ work: some AnyValueStageWork) {
    self.work = StageWorkForValue<_, Output>(work: work)
  }
}

/// What a pipeline knows about a stage before it runs.
struct StageTraits {
  var descriptor: StageDescriptor
  /// Whether it is for every failure, as far as it says.
  var isForAllFailures = false
  /// The limits of a timeout.
  var total: Duration?
  var attempt: Duration?
  /// The object that it shares with other pipelines.
  var sharedObject: ObjectIdentifier?

  var kind: PolicyKind { descriptor.kind }
}

/// The pipeline that a stage belongs to.
struct StageSurroundings: Sendable {
  let pipeline: String
  let events: PolicyEvents?
  /// When a publisher has to be done, if a stage outside says so; an asynchronous function reads ``Deadline/current``.
  var deadline: Deadline?

  /// An observer for a policy that tells its events as those of the pipeline; `nil` if nobody could listen.
  func teller<Event: PolicyDecision>(of type: Event.Type) -> (@Sendable (Event) -> Void)? {
    guard let events else { return nil }
    return { [pipeline] event in events.tell(event, of: pipeline) }
  }
}

/// What publishers wait on.
struct StageScheduler<Context: Scheduler> {
  let scheduler: Context
  let options: Context.SchedulerOptions?
}

/// What a stage does to a publisher, and to an asynchronous function.
protocol StageWork<Output>: Sendable {
  associatedtype Output: Sendable

  var traits: StageTraits { get }

  /// Lets the events and gauges of what is shared be seen.
  func register(with events: PolicyEvents, pipeline: String)

  func protect<Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error>

  /// Protects what is inside of it, which is made as soon as its surroundings are known.
  func protect<Context: Scheduler>(
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>,
    _ inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>
  ) -> AnyPublisher<Output, any Error>

  func protect<C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration
}

/// What a stage does that does not care what the values are.
protocol AnyValueStageWork: Sendable {
  var traits: StageTraits { get }

  func register(with events: PolicyEvents, pipeline: String)

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error>

  /// Protects what is inside of it, which is made as soon as its surroundings are known.
  func protect<Output: Sendable, Context: Scheduler>(
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>,
    _ inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>
  ) -> AnyPublisher<Output, any Error>

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration
}

extension StageWork {
  func register(with events: PolicyEvents, pipeline: String) {}

  func protect<Context: Scheduler>(
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>,
    _ inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>
  ) -> AnyPublisher<Output, any Error> {
    protect(inside(surroundings), in: surroundings, on: waiting)
  }
}

extension AnyValueStageWork {
  func register(with events: PolicyEvents, pipeline: String) {}

  func protect<Output: Sendable, Context: Scheduler>(
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>,
    _ inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>
  ) -> AnyPublisher<Output, any Error> {
    protect(inside(surroundings), in: surroundings, on: waiting)
  }
}

/// Work for any value, for values of one type.
private struct StageWorkForValue<Work: AnyValueStageWork, Output: Sendable>: StageWork {
  let work: Work

  var traits: StageTraits { work.traits }

  func register(with events: PolicyEvents, pipeline: String) {
    work.register(with: events, pipeline: pipeline)
  }

  func protect<Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    work.protect(upstream, in: surroundings, on: waiting)
  }

  func protect<Context: Scheduler>(
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>,
    _ inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>
  ) -> AnyPublisher<Output, any Error> {
    work.protect(in: surroundings, on: waiting, inside)
  }

  func protect<C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    work.protect(call, in: surroundings, clock: clock)
  }
}
