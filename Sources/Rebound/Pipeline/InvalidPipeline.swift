import Foundation

/// A ``Pipeline`` whose stages do not go together, refused when it is made.
public struct InvalidPipeline: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Mistake: Hashable, Sendable {
    /// There is no stage.
    case noStages
    /// A fallback for all failures leaves none for a stage outside of it.
    case hiddenByFallback
    /// The limit for one attempt stands outside of the retry.
    case attemptLimitOutsideRetry
    /// The limit for the whole stands inside of the retry.
    case totalLimitInsideRetry
    /// There are two retries, and their attempts multiply.
    case retriedTwice
    /// The retry goes on while the breaker outside of it is open.
    case retryInsideBreaker
    /// Calls that must not be made twice would be.
    case hedgeOfHarmfulCalls
    /// The hedge would join the call that it is to outrun.
    case hedgeOfSharedCalls
    /// Calls that must not be made twice would be, after any failure.
    case retryOfHarmfulCalls
    /// A limit of time can never be reached, since the one outside of it is not longer.
    case limitNeverReached
    /// A limit of time is zero or shorter.
    case limitNotPositive
    /// One shared object is asked twice by the same call.
    case sharedTwice
  }

  /// A stage of the pipeline.
  public struct Stage: Hashable, Sendable, CustomStringConvertible {
    /// Its place, from 1, outermost first.
    public let position: Int
    /// What it is.
    public let descriptor: StageDescriptor

    /// Describes a stage of a pipeline.
    public init(position: Int, descriptor: StageDescriptor) {
      self.position = position
      self.descriptor = descriptor
    }

    /// The place and the stage: "stage 2, retry (maxRetries: 2)".
    public var description: String { "stage \(position), \(descriptor)" }
  }

  /// The name of the pipeline.
  public let pipeline: String
  /// What is wrong.
  public let mistake: Mistake
  /// The stages that it is about, outermost first.
  public let stages: [Stage]

  /// Describes a mistake.
  public init(pipeline: String, mistake: Mistake, stages: [Stage]) {
    self.pipeline = pipeline
    self.mistake = mistake
    self.stages = stages
  }
}

extension InvalidPipeline: CustomStringConvertible {
  /// What is wrong, with which stages, and what to do about it.
  public var description: String {
    let about = stages.isEmpty ? "" : " (\(stages.map(\.description).joined(separator: "; ")))"
    return "Pipeline \"\(pipeline)\": \(mistake)\(about)."
  }
}

extension InvalidPipeline: LocalizedError {
  /// What is wrong, and what to do.
  public var errorDescription: String? { description }
}

extension InvalidPipeline.Mistake: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  public var description: String {
    switch self {
    case .noStages:
      "it has no stages; give it some, or leave it out"
    case .hiddenByFallback:
      "the fallback takes every failure, and leaves none for the stage outside of it; "
        + "move the fallback outwards, or say for which failures it is, with when:"
    case .attemptLimitOutsideRetry:
      "the limit for one attempt stands outside of the retry, and would end all attempts together; "
        + "move it inside of the retry, or make it Timeout(total:)"
    case .totalLimitInsideRetry:
      "the limit for the whole stands inside of the retry, and begins anew with each attempt; "
        + "move it outside of the retry, or make it Timeout(attempt:)"
    case .retriedTwice:
      "there are two retries, and their attempts multiply; leave one of them out"
    case .retryInsideBreaker:
      "the retry stands inside of the breaker, and goes on while that is open; move the breaker inside of the retry"
    case .hedgeOfHarmfulCalls:
      "calls that must not be repeated would be sent twice at the same time; "
        + "leave the hedge out, or give the calls an idempotency key and make repetition .harmless"
    case .hedgeOfSharedCalls:
      "the hedge would join the call that it is to outrun, and could never win; "
        + "move it inside of the stage that lets equal calls share one"
    case .retryOfHarmfulCalls:
      "calls that must not be repeated would be, after any failure; "
        + "say with when: which failures prove that nothing was done, or make repetition .harmless"
    case .limitNeverReached:
      "the inner limit of time is never reached, since the outer one is not longer; make it shorter, or leave it out"
    case .limitNotPositive:
      "a limit of time is zero or shorter; give a positive duration"
    case .sharedTwice:
      "one call would ask the same object twice, and count twice or wait for itself; leave one of the two out"
    }
  }
}
