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

  /// Whether nothing is put around anything, since a condition has left it out; `false` if nothing is said.
  var isAbsent: Bool { get }

  /// A pipeline with these events has been made of it.
  func register(with events: PolicyEvents?, pipeline: String)

  /// Runs a call under it.
  nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws -> Output
  where Call.Output == Output, Call.Failure == any Error

  /// Subscribes to a publisher under it.
  func subscribe<Upstream: StageUpstream<Output>, Downstream: Subscriber>(
    _ downstream: Downstream,
    to upstream: consuming Upstream
  ) where Downstream.Input == Output, Downstream.Failure == any Error
}

extension PipelineStage {
  /// It is there.
  @inlinable public var isAbsent: Bool { false }
  /// Nothing is shared.
  public func register(with events: PolicyEvents?, pipeline: String) {}
}

/// What a stage is put around: the publisher that the pipeline protects, or that publisher under the stages inside of this
/// one.
public protocol StageUpstream<Output>: Publisher where Failure == any Error {
  /// The pipeline that it runs under.
  var surroundings: StageSurroundings { get }
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

  /// An observer for a policy that tells its events as those of the pipeline; `nil` if nobody could listen.
  func teller<Event: PolicyDecision>(of type: Event.Type) -> (@Sendable (Event) -> Void)? {
    guard let origin, let events = origin.events else { return nil }
    return { event in events.tell(event, of: origin.source) }
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
  /// Whether it refuses calls after others have failed, as a breaker does.
  public var refusesAfterFailures = false
  /// Whether it puts a value in the place of failures, as a fallback does.
  public var replacesFailures = false
  /// Whether it has nothing to do where nothing fails; in any case so if it ``retries`` or ``refusesAfterFailures``.
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
  public func subscribe<Upstream: StageUpstream<Output>, Downstream: Subscriber>(
    _ downstream: Downstream,
    to upstream: consuming Upstream
  ) where Downstream.Input == Output, Downstream.Failure == any Error {
    let surroundings = upstream.surroundings
    let execution = PolicySubscription<Upstream, Applied, Downstream>(
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
  /// Whether both are.
  @inlinable public var isAbsent: Bool { inner.isAbsent && outer.isAbsent }

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
  public func subscribe<Upstream: StageUpstream<Output>, Downstream: Subscriber>(
    _ downstream: Downstream,
    to upstream: consuming Upstream
  ) where Downstream.Input == Output, Downstream.Failure == any Error {
    if inner.isAbsent { return outer.subscribe(downstream, to: upstream) }
    outer.subscribe(downstream, to: PublisherInStage(upstream: upstream, stage: inner))
  }
}

/// A stage in an object of its own, made once for a pipeline: an execution copies a reference, not all policies inside.
@usableFromInline
final class StageBox<Stage: PipelineStage>: Sendable {
  @usableFromInline let stage: Stage
  @usableFromInline let isAbsent: Bool

  @inlinable
  init(_ stage: Stage) {
    self.stage = stage
    isAbsent = stage.isAbsent
  }
}

/// A publisher under a stage.
@usableFromInline
struct PublisherInStage<Upstream: StageUpstream, Stage: PipelineStage>: StageUpstream
where Upstream.Output == Stage.Output {
  @usableFromInline typealias Output = Stage.Output
  @usableFromInline typealias Failure = any Error

  @usableFromInline let upstream: Upstream
  @usableFromInline let box: StageBox<Stage>

  @inlinable
  init(upstream: Upstream, stage: StageBox<Stage>) {
    self.upstream = upstream
    box = stage
  }

  @inlinable var surroundings: StageSurroundings { upstream.surroundings }

  @inlinable
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    box.stage.subscribe(subscriber, to: upstream)
  }
}

/// The publisher that a pipeline protects, in a pipeline that does not know its type.
@usableFromInline
struct ProtectedUpstream<Output>: StageUpstream {
  @usableFromInline typealias Failure = any Error

  /// Who subscribes: the attempt of a policy as it is, so that nothing has to be made for it.
  @usableFromInline
  enum Subscribing {
    case attempt(PolicyAttempt<Output, any Error>)
    case other(AnySubscriber<Output, any Error>)
  }

  @usableFromInline let upstream: ErasedUpstream<Output>

  @inlinable
  init(_ upstream: ErasedUpstream<Output>) {
    self.upstream = upstream
  }

  @inlinable var surroundings: StageSurroundings { upstream.surroundings }

  @inlinable
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    if let attempt = subscriber as? PolicyAttempt<Output, any Error> {
      upstream.attach(upstream, .attempt(attempt))
    } else {
      upstream.attach(upstream, .other(AnySubscriber(subscriber)))
    }
  }
}

/// The publisher that a pipeline protects, under all of its stages.
///
/// One reference and no more, so that it needs no memory of its own when its type is hidden.
@usableFromInline
struct ProtectedPublisher<Output>: Publisher {
  @usableFromInline typealias Failure = any Error

  @usableFromInline let upstream: ErasedUpstream<Output>

  @inlinable
  init(_ upstream: ErasedUpstream<Output>) {
    self.upstream = upstream
  }

  @inlinable
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.subscribes(AnySubscriber(subscriber), ProtectedUpstream(upstream))
  }
}

/// The protected publisher with its type hidden: what each stage copies of it is one reference.
@usableFromInline
class ErasedUpstream<Output> {
  @usableFromInline typealias Subscribe =
    @Sendable (AnySubscriber<Output, any Error>, ProtectedUpstream<Output>) -> Void

  @usableFromInline let surroundings: StageSurroundings
  /// Subscribes to it under the stages of its pipeline.
  @usableFromInline let subscribes: Subscribe
  /// Captures nothing; see ``PolicyExecution``.
  @usableFromInline let attach: (ErasedUpstream, ProtectedUpstream<Output>.Subscribing) -> Void

  @inlinable
  init(
    _ surroundings: StageSurroundings,
    _ subscribes: @escaping Subscribe,
    attach: @escaping (ErasedUpstream, ProtectedUpstream<Output>.Subscribing) -> Void
  ) {
    self.surroundings = surroundings
    self.subscribes = subscribes
    self.attach = attach
  }
}

@usableFromInline
final class TypedUpstream<Upstream: Publisher>: ErasedUpstream<Upstream.Output>
where Upstream.Failure == any Error {
  @usableFromInline let upstream: Upstream

  @inlinable
  init(_ upstream: Upstream, _ surroundings: StageSurroundings, _ subscribes: @escaping Subscribe) {
    self.upstream = upstream
    // A downcast: who is handed over is always this object.
    super.init(surroundings, subscribes) { erased, subscribing in
      let upstream = unsafeDowncast(erased, to: TypedUpstream.self).upstream
      switch subscribing {
      case .attempt(let attempt): upstream.receive(subscriber: attempt)
      case .other(let other): upstream.receive(subscriber: other)
      }
    }
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
  /// Whether the stage is left out, or absent itself.
  @inlinable public var isAbsent: Bool { stage?.isAbsent ?? true }

  /// Lets what the stage shares be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    stage?.register(with: events, pipeline: pipeline)
  }

  /// Runs a call under the stage, if it is there.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    if let stage { return try await stage.run(execution, call) }
    return try await call()
  }

  /// Subscribes to a publisher under the stage, if it is there.
  @inlinable
  public func subscribe<Upstream: StageUpstream<Output>, Downstream: Subscriber>(
    _ downstream: Downstream,
    to upstream: consuming Upstream
  ) where Downstream.Input == Output, Downstream.Failure == any Error {
    if let stage {
      stage.subscribe(downstream, to: upstream)
    } else {
      upstream.subscribe(downstream)
    }
  }
}
