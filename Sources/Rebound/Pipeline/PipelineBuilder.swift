/// Collects the stages of a ``Pipeline``, outermost first.
///
/// A stage is ``Fallback``, ``CacheFirst``, ``SingleFlight``, ``Timeout``, ``Retry``, ``Hedge``, ``Authentication``, ``Chaos``, or
/// one of the shared objects themselves: a ``CircuitBreaker``, a ``Bulkhead``, a ``RateLimiter``.
@resultBuilder
public enum PipelineBuilder<Output: Sendable> {
  /// A list of stages.
  public typealias Stages = [PipelineStage<Output>]

  /// Tries again.
  public static func buildExpression(_ stage: Retry) -> Stages { [PipelineStage(stage)] }

  /// Limits time.
  public static func buildExpression(_ stage: Timeout) -> Stages { [PipelineStage(stage)] }

  /// Asks a second time.
  public static func buildExpression(_ stage: Hedge) -> Stages { [PipelineStage(stage)] }

  /// Puts something in the place of an answer.
  public static func buildExpression(_ stage: Fallback<Output>) -> Stages { [PipelineStage(stage)] }

  /// Stops calls to a service that fails.
  public static func buildExpression(_ stage: CircuitBreaker) -> Stages { [PipelineStage(stage)] }

  /// Limits how many calls run.
  public static func buildExpression(_ stage: Bulkhead) -> Stages { [PipelineStage(stage)] }

  /// Limits how many calls begin.
  public static func buildExpression(_ stage: RateLimiter) -> Stages { [PipelineStage(stage)] }

  /// Keeps answers.
  public static func buildExpression<Key>(_ stage: CacheFirst<Key, Output>) -> Stages { [PipelineStage(stage)] }

  /// Shares equal calls.
  public static func buildExpression<Key>(_ stage: SingleFlight<Key, Output>) -> Stages { [PipelineStage(stage)] }

  /// Renews a credential.
  public static func buildExpression<Credential>(_ stage: Authentication<Credential>) -> Stages {
    [PipelineStage(stage)]
  }

  /// Lets things go wrong on purpose.
  public static func buildExpression(_ stage: Chaos<Output, any Error>) -> Stages {
    [PipelineStage(ChaosStage(chaos: stage))]
  }

  /// Puts lists of stages one after the other.
  public static func buildBlock(_ stages: Stages...) -> Stages { stages.flatMap { $0 } }

  /// Leaves stages out if a condition does not hold.
  public static func buildOptional(_ stages: Stages?) -> Stages { stages ?? [] }

  /// Takes the stages of one branch.
  public static func buildEither(first stages: Stages) -> Stages { stages }

  /// Takes the stages of the other branch.
  public static func buildEither(second stages: Stages) -> Stages { stages }
}
