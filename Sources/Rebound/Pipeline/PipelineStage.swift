import Combine

/// One policy of a ``Pipeline``, or several, one inside the other, as ``PipelineBuilder`` puts them together.
///
/// Every ``Policy`` whose failures are `any Error` is one. A type of one's own conforms only if it looks at values, as a
/// fallback does.
public protocol PipelineStage<Output>: Sendable {
  /// What calls give.
  associatedtype Output: Sendable

  /// What the pipeline knows about it before it runs, outermost first.
  var traits: [StageTraits] { get }

  /// A pipeline with these events has been made of it.
  func register(with events: PolicyEvents?, pipeline: String)

  /// Runs a call under it.
  nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws -> Output
  where Call.Output == Output, Call.Failure == any Error

  /// Subscribes to a publisher under it.
  func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: consuming StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error

  /// Puts it around the stages inside of it, once for a pipeline; only a stage that is made of others says how.
  func put(around inner: StageChain<Output>) -> StageChain<Output>
}

extension PipelineStage {
  /// Nothing is shared.
  public func register(with events: PolicyEvents?, pipeline: String) {}
  /// As one stage.
  @inlinable public func put(around inner: StageChain<Output>) -> StageChain<Output> { StageChain(self, around: inner) }
}

/// The pipeline that a stage belongs to, where it is put around a publisher.
public struct StageSurroundings: Sendable {
  /// Measures time and waits.
  public let time: TimeSource
  /// Who is told of decisions.
  @usableFromInline let origin: DecisionOrigin?

  @inlinable
  init(time: TimeSource, origin: DecisionOrigin?) {
    self.time = time
    self.origin = origin
  }

  @inlinable var isListened: Bool { origin?.events?.isListened ?? false }

  /// An observer for a policy that tells its events as those of the pipeline; `nil` if nobody could listen.
  func teller<Event: PolicyDecision>(of type: Event.Type) -> (@Sendable (Event) -> Void)? {
    guard let origin, origin.events != nil else { return nil }
    return { event in origin.tell(event) }
  }
}

extension ExecutionContext {
  /// For stages that are made of something else than a machine.
  @inlinable var surroundings: StageSurroundings { StageSurroundings(time: time, origin: origin) }
}

/// What a pipeline knows about a stage before it runs, and all that its rules go by; the kind of a policy is none of it.
public struct StageTraits: Sendable {
  /// What it is.
  public var descriptor: StageDescriptor
  /// Whether it makes the call again after failures, as a retry does: the attempts of two such stages multiply.
  public var retries = false
  /// Whether it may make the call again for another reason: after a success, or once more with a renewed credential.
  public var repeats = false
  /// Whether it may make the call several times at once, as a hedge does.
  public var runsSeveralAtOnce = false
  /// Whether a call joins an equal one that is under way, as a single flight does: several at once are one.
  public var sharesCalls = false
  /// Whether it refuses calls after others have failed, as a breaker does.
  public var refusesAfterFailures = false
  /// Whether it puts a value in the place of failures, as a fallback does.
  public var replacesFailures = false
  /// Whether it goes by failures, and has less to do, or nothing, where a stage inside of it takes them all; in any case so if
  /// it ``retries`` or ``refusesAfterFailures``.
  public var livesOnFailures = false
  /// Whether what it does about failures is for every failure, as far as it says.
  public var isForAllFailures = false
  /// The limit for all that is inside of it together; of a timeout.
  public var total: Duration?
  /// The limit for each attempt; of a timeout.
  public var attempt: Duration?
  /// The object that it shares with other pipelines.
  public var sharedObject: ObjectIdentifier?

  /// Describes a stage.
  ///
  /// - Parameters:
  ///   - descriptor: What it is.
  ///   - sharedObject: The object that it shares with other pipelines; one call must not ask it twice.
  public init(descriptor: StageDescriptor, sharedObject: AnyObject? = nil) {
    self.descriptor = descriptor
    self.sharedObject = sharedObject.map(ObjectIdentifier.init)
  }
}

/// A stage that is a policy.
public struct PolicyStage<Applied: Policy, Output: Sendable>: PipelineStage where Applied.Failure == any Error {
  @usableFromInline let policy: Applied

  /// Takes a policy as a stage.
  @inlinable
  public init(_ policy: Applied) {
    self.policy = policy
  }

  /// What the policy says about itself.
  public var traits: [StageTraits] { [policy.traits] }

  /// Lets what the policy shares be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    policy.register(with: events, pipeline: pipeline)
  }

  /// Runs a call under the policy.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    try await policy.execute(execution, call)
  }

  /// Subscribes to a publisher under the policy.
  @inlinable
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: consuming StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    let upstream = Applied.self == Stopwatch.self ? upstream.inNewSpan : upstream
    let surroundings = upstream.surroundings
    let execution = PolicySubscription<StageUpstream<Output>, Applied, Downstream>(
      upstream,
      downstream,
      nil,
      nil,
      time: surroundings.time,
      origin: surroundings.origin
    )
    downstream.receive(subscription: execution)
    execution.begin(policy)
  }
}

/// A stage around another.
public struct NestedStages<Outer: PipelineStage, Inner: PipelineStage>: PipelineStage
where Outer.Output == Inner.Output {
  /// What calls give.
  public typealias Output = Outer.Output

  @usableFromInline let outer: Outer
  @usableFromInline let inner: StageBox<Inner>

  @inlinable
  init(_ outer: Outer, _ inner: Inner) {
    self.outer = outer
    self.inner = StageBox(inner)
  }

  /// Those of both.
  public var traits: [StageTraits] { outer.traits + inner.stage.traits }

  /// Lets what both share be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    outer.register(with: events, pipeline: pipeline)
    inner.stage.register(with: events, pipeline: pipeline)
  }

  /// Runs a call under both.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    try await outer.run(execution, CallInStage(stage: inner, execution: execution, call: call))
  }

  /// Subscribes to a publisher under both.
  @inlinable
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: consuming StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    upstream.under(self).receive(subscriber: downstream)
  }

  /// The outer one around the inner one.
  @inlinable
  public func put(around inner: StageChain<Output>) -> StageChain<Output> {
    outer.put(around: self.inner.stage.put(around: inner))
  }
}

/// A stage in an object of its own, made once for a pipeline: an execution copies a reference, not all policies inside.
@usableFromInline
final class StageBox<Stage: PipelineStage>: Sendable {
  @usableFromInline let stage: Stage

  @inlinable
  init(_ stage: Stage) {
    self.stage = stage
  }
}

/// A stage that a condition may leave out.
public struct OptionalStage<Wrapped: PipelineStage>: PipelineStage {
  /// What calls give.
  public typealias Output = Wrapped.Output

  @usableFromInline let stage: Wrapped?

  @inlinable
  init(_ stage: Wrapped?) {
    self.stage = stage
  }

  /// Those of the stage, if it is there.
  public var traits: [StageTraits] { stage?.traits ?? [] }

  /// Lets what the stage shares be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    stage?.register(with: events, pipeline: pipeline)
  }

  /// Runs a call under the stage, if it is there.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    // What is inside is compiled once for both ways: pipelines with many conditions would double with each.
    let call = OutlinedCall(call: call)
    if let stage { return try await stage.run(execution, call) }
    return try await call()
  }

  /// Subscribes to a publisher under the stage, if it is there.
  @inlinable
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: consuming StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    upstream.under(self).receive(subscriber: downstream)
  }

  /// The stage if it is there, and nothing in its place.
  @inlinable
  public func put(around inner: StageChain<Output>) -> StageChain<Output> { stage?.put(around: inner) ?? inner }
}
