/// What makes an order of stages impossible to mean.
struct PipelineRules {
  let pipeline: String
  let repetition: CallRepetition
  let stages: [StageTraits]

  /// - Throws: ``InvalidPipeline`` for the first mistake.
  func check() throws(InvalidPipeline) {
    if stages.isEmpty { throw mistake(.noStages, []) }
    for inner in stages.indices {
      try check(inner)
      for outer in 0..<inner { try check(outer, around: inner) }
    }
  }

  /// Rules for one stage.
  private func check(_ index: Int) throws(InvalidPipeline) {
    let stage = stages[index]
    for limit in [stage.total, stage.attempt] {
      if let limit, limit <= .zero { throw mistake(.limitNotPositive, [index]) }
    }
    guard repetition == .harmful else { return }
    if stage.runsSeveralAtOnce { throw mistake(.hedgeOfHarmfulCalls, [index]) }
    if stage.retries, stage.isForAllFailures { throw mistake(.retryOfHarmfulCalls, [index]) }
  }

  /// Rules for two stages.
  private func check(_ outerIndex: Int, around innerIndex: Int) throws(InvalidPipeline) {
    let (outer, inner) = (stages[outerIndex], stages[innerIndex])
    if let found = mistake(outer, around: inner) { throw mistake(found, [outerIndex, innerIndex]) }
  }

  private func mistake(_ outer: StageTraits, around inner: StageTraits) -> InvalidPipeline.Mistake? {
    if let object = inner.sharedObject, object == outer.sharedObject { return .sharedTwice }
    if inner.retries {
      if outer.retries { return .retriedTwice }
      if outer.refusesAfterFailures { return .retryInsideBreaker }
      if outer.attempt != nil { return .attemptLimitOutsideRetry }
    }
    if outer.retries, inner.total != nil { return .totalLimitInsideRetry }
    if let outer = outer.whole, let inner = inner.whole, inner >= outer { return .limitNeverReached }
    if outer.runsSeveralAtOnce, inner.sharesCalls { return .hedgeOfSharedCalls }
    if outer.needsFailures, inner.replacesFailures, inner.isForAllFailures { return .hiddenByFallback }
    return nil
  }

  private func mistake(_ mistake: InvalidPipeline.Mistake, _ indices: [Int]) -> InvalidPipeline {
    InvalidPipeline(
      pipeline: pipeline,
      mistake: mistake,
      stages: indices.map { InvalidPipeline.Stage(position: $0 + 1, descriptor: stages[$0].descriptor) }
    )
  }
}

extension StageTraits {
  /// The time for all that is inside.
  fileprivate var whole: Duration? { [total, attempt].compactMap { $0 }.min() }

  /// Whether a fallback for all failures inside of it takes something away from it.
  fileprivate var needsFailures: Bool { livesOnFailures || retries || refusesAfterFailures }

  /// Whether it may make the call more than once, for whatever reason.
  var makesCallAgain: Bool { retries || repeats || runsSeveralAtOnce }
}
