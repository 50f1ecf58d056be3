import Combine

/// What a stage is put around: the publisher that the pipeline protects, under the stages inside of this one.
public struct StageUpstream<Output: Sendable>: Publisher {
  /// Whatever the publisher or a policy fails with.
  public typealias Failure = any Error

  @usableFromInline let upstream: ErasedUpstream<Output>
  @usableFromInline let stages: StageChain<Output>

  @inlinable
  init(_ upstream: ErasedUpstream<Output>, under stages: StageChain<Output>) {
    self.upstream = upstream
    self.stages = stages
  }

  /// The pipeline that it runs under.
  @inlinable public var surroundings: StageSurroundings { upstream.surroundings }

  /// Subscribes to the publisher under the stages inside.
  @inlinable
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    if let attempt = subscriber as? PolicyAttempt<Output, any Error> {
      stages.subscribe(.attempt(attempt), upstream)
    } else {
      stages.subscribe(.other(AnySubscriber(subscriber)), upstream)
    }
  }

  /// The same inside of a stopwatch.
  @inlinable
  var inNewSpan: StageUpstream { StageUpstream(upstream.inNewSpan, under: stages) }

  /// The same with a stage around it.
  @inlinable
  func under(_ stage: some PipelineStage<Output>) -> StageUpstream {
    StageUpstream(upstream, under: stage.put(around: stages))
  }
}

/// The stages of a pipeline, one inside the other, as subscriptions go through them.
///
/// Made once for a pipeline. Each link knows the type of one stage and of nothing else, so that what is compiled grows by
/// one with each stage, and stages that a condition leaves out are not in it.
public struct StageChain<Output: Sendable>: Sendable {
  @usableFromInline let subscribe: @Sendable (StageSubscriber<Output>, ErasedUpstream<Output>) -> Void

  /// No stage: the publisher that the pipeline protects.
  @inlinable
  init() {
    subscribe = { subscriber, upstream in upstream.attach(upstream, subscriber) }
  }

  @inlinable
  init<Stage: PipelineStage<Output>>(_ stage: Stage, around inner: StageChain) {
    subscribe = { subscriber, upstream in
      let upstream = StageUpstream(upstream, under: inner)
      switch subscriber {
      case .attempt(let attempt): stage.subscribe(attempt, to: upstream)
      case .other(let other): stage.subscribe(other, to: upstream)
      }
    }
  }
}

/// Who subscribes: the attempt of a policy as it is, so that nothing has to be made for it.
@usableFromInline
enum StageSubscriber<Output> {
  case attempt(PolicyAttempt<Output, any Error>)
  case other(AnySubscriber<Output, any Error>)
}

/// The publisher that a pipeline protects, under all of its stages.
///
/// One reference and no more, so that it needs no memory of its own when its type is hidden.
@usableFromInline
struct ProtectedPublisher<Output: Sendable>: Publisher {
  @usableFromInline typealias Failure = any Error

  @usableFromInline let upstream: ErasedUpstream<Output>

  @inlinable
  init(_ upstream: ErasedUpstream<Output>) {
    self.upstream = upstream
  }

  @inlinable
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    StageUpstream(upstream.inNewExecution, under: upstream.stages).receive(subscriber: subscriber)
  }
}

/// The protected publisher with its type hidden: what each stage copies of it is one reference.
@usableFromInline
class ErasedUpstream<Output: Sendable> {
  @usableFromInline let surroundings: StageSurroundings
  /// Those of its pipeline.
  @usableFromInline let stages: StageChain<Output>
  /// Captures nothing; see ``PolicyExecution``.
  @usableFromInline let attach: (ErasedUpstream, StageSubscriber<Output>) -> Void

  @inlinable
  init(
    _ surroundings: StageSurroundings,
    _ stages: StageChain<Output>,
    attach: @escaping (ErasedUpstream, StageSubscriber<Output>) -> Void
  ) {
    self.surroundings = surroundings
    self.stages = stages
    self.attach = attach
  }

  /// The same for one subscription; another object only if somebody listens.
  @inlinable
  var inNewExecution: ErasedUpstream { surroundings.isListened ? telling(surroundings.origin?.newExecution) : self }

  /// The same for all that is inside of a stopwatch.
  @inlinable
  var inNewSpan: ErasedUpstream { surroundings.isListened ? telling(surroundings.origin?.newSpan) : self }

  @usableFromInline
  func telling(_ origin: DecisionOrigin?) -> ErasedUpstream {
    guard let origin else { return self }
    let surroundings = StageSurroundings(time: surroundings.time, origin: origin)
    return ErasedUpstream(surroundings, stages) { [self] _, subscriber in attach(self, subscriber) }
  }
}

@usableFromInline
final class TypedUpstream<Upstream: Publisher>: ErasedUpstream<Upstream.Output>
where Upstream.Output: Sendable, Upstream.Failure == any Error {
  @usableFromInline let upstream: Upstream

  @inlinable
  init(_ upstream: Upstream, _ surroundings: StageSurroundings, _ stages: StageChain<Upstream.Output>) {
    self.upstream = upstream
    // A downcast: who is handed over is always this object.
    super.init(surroundings, stages) { erased, subscriber in
      let upstream = unsafeDowncast(erased, to: TypedUpstream.self).upstream
      switch subscriber {
      case .attempt(let attempt): upstream.receive(subscriber: attempt)
      case .other(let other): upstream.receive(subscriber: other)
      }
    }
  }
}
