/// Puts the stages of a ``Pipeline`` together, outermost first.
///
/// A stage is any ``Policy`` whose failures are `any Error`, this library's or one of your own: a ``CircuitBreaker``, a
/// ``Bulkhead``, a ``RateLimiter``, a ``Retry``, a ``Timeout`` … Or it is a ``PipelineStage`` that looks at values: a
/// ``Fallback``, a ``CacheFirst``, a ``SingleFlight``, a ``Chaos``.
///
/// A ``CircuitBreakerPolicy`` or a ``BulkheadPolicy`` stands here as it is; the pipeline then has a breaker or a bulkhead of
/// its own.
@resultBuilder
public enum PipelineBuilder<Output: Sendable> {
  /// Takes a policy.
  @inlinable
  public static func buildExpression<Applied: Policy>(_ policy: Applied) -> PolicyStage<Applied, Output>
  where Applied.Failure == any Error {
    PolicyStage(policy)
  }

  /// Takes a stage that looks at values.
  @inlinable
  public static func buildExpression<Stage: PipelineStage>(_ stage: Stage) -> Stage where Stage.Output == Output {
    stage
  }

  /// Makes a breaker that only this pipeline has.
  public static func buildExpression(_ policy: CircuitBreakerPolicy) -> PolicyStage<CircuitBreaker, Output> {
    PolicyStage(CircuitBreaker(policy: policy))
  }

  /// Makes a bulkhead that only this pipeline has.
  public static func buildExpression(_ policy: BulkheadPolicy) -> PolicyStage<Bulkhead, Output> {
    PolicyStage(Bulkhead(policy: policy))
  }

  /// Lets things go wrong on purpose.
  public static func buildExpression(_ chaos: Chaos<Output, any Error>) -> ChaosStage<Output> {
    ChaosStage(chaos: chaos)
  }

  /// Asks a second time.
  public static func buildExpression(_ hedge: Hedge) -> HedgeStage<Output> { HedgeStage(hedge: hedge) }

  /// No stage at all: one that is left out, of whatever type.
  @inlinable
  public static func buildBlock() -> OptionalStage<ChaosStage<Output>> { OptionalStage(nil) }

  /// Begins with the outermost stage.
  @inlinable
  public static func buildPartialBlock<Stage: PipelineStage>(first stage: Stage) -> Stage
  where Stage.Output == Output {
    stage
  }

  /// Puts a stage inside of those before it.
  @inlinable
  public static func buildPartialBlock<Outer: PipelineStage, Inner: PipelineStage>(
    accumulated outer: Outer,
    next inner: Inner
  ) -> NestedStages<Outer, Inner> where Outer.Output == Output, Inner.Output == Output {
    NestedStages(outer, inner)
  }

  /// Leaves stages out if a condition does not hold.
  @inlinable
  public static func buildOptional<Stage: PipelineStage>(_ stage: Stage?) -> OptionalStage<Stage>
  where Stage.Output == Output {
    OptionalStage(stage)
  }

  /// Takes the stages of one branch.
  @inlinable
  public static func buildEither<First: PipelineStage, Second: PipelineStage>(
    first stage: First
  ) -> NestedStages<OptionalStage<First>, OptionalStage<Second>> where First.Output == Output, Second.Output == Output {
    NestedStages(OptionalStage(stage), OptionalStage(nil))
  }

  /// Takes the stages of the other branch.
  @inlinable
  public static func buildEither<First: PipelineStage, Second: PipelineStage>(
    second stage: Second
  ) -> NestedStages<OptionalStage<First>, OptionalStage<Second>> where First.Output == Output, Second.Output == Output {
    NestedStages(OptionalStage(nil), OptionalStage(stage))
  }
}
