import Combine

/// The stage of a ``Pipeline`` that asks a second time when the first answer is late.
///
/// For calls that may be made twice only; see ``CallRepetition`` and ``HedgePolicy``.
public struct Hedge: Sendable {
  private let policy: HedgePolicy<any Error>

  /// Asks a second time as a policy says.
  ///
  /// - Parameters:
  ///   - policy: How many attempts, and when.
  ///   - budget: How many hedges and retries all who hold it may make together; `nil` for that of the policy.
  public init(_ policy: HedgePolicy<any Error> = .standard, budget: RetryBudget? = nil) {
    self.policy = budget.map(policy.within) ?? policy
  }
}

extension Hedge: AnyValueStageWork {
  var traits: StageTraits {
    var parameters = [
      StageDescriptor.Parameter("maxHedges", "\(policy.maxHedges)"),
      StageDescriptor.Parameter("delay", policy.delay.summary),
    ]
    if policy.budget != nil { parameters.append(.init("budget", "shared")) }
    return StageTraits(descriptor: StageDescriptor(.hedge, parameters: parameters))
  }

  func register(with events: PolicyEvents, pipeline: String) {
    if let budget = policy.budget { events.watch(budget, named: pipeline) }
  }

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream
      .hedged(observed(in: surroundings), scheduler: waiting.scheduler, options: waiting.options)
      .eraseToAnyPublisher()
  }

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    let policy = observed(in: surroundings)
    return { try await policy.run(clock: clock, isolation: nil) { _ in try await call() } }
  }

  private func observed(in surroundings: StageSurroundings) -> HedgePolicy<any Error> {
    guard let tell = surroundings.teller(of: HedgeEvent.self) else { return policy }
    return policy.onEvent(tell)
  }
}

extension HedgeDelay {
  fileprivate var summary: String {
    switch kind {
    case .constant(let delay): "\(delay)"
    case .parallel: "none"
    case .afterFailure: "until a failure"
    case .custom: "custom"
    case .percentile(let share, _, let first): "percentile \(share), at first \(first)"
    }
  }
}
