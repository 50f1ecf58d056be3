import Combine

/// The stage of a ``Pipeline`` that asks a second time when the first answer is late.
///
/// For calls that may be made twice only; see ``CallRepetition`` and ``HedgePolicy``.
public struct Hedge: Sendable {
  let policy: HedgePolicy<any Error>

  /// Asks a second time as a policy says.
  ///
  /// - Parameters:
  ///   - policy: How many attempts, and when.
  ///   - budget: How many hedges and retries all who hold it may make together; `nil` for that of the policy.
  public init(_ policy: HedgePolicy<any Error> = .standard, budget: RetryBudget? = nil) {
    self.policy = budget.map(policy.within) ?? policy
  }
}

extension Hedge {
  /// What it does, with its numbers.
  var descriptor: StageDescriptor {
    var parameters = [
      StageDescriptor.Parameter("maxHedges", "\(policy.maxHedges)"),
      StageDescriptor.Parameter("delay", policy.delay.summary),
    ]
    if policy.budget != nil { parameters.append(.init("budget", "shared")) }
    return StageDescriptor(.hedge, parameters: parameters)
  }

  @usableFromInline
  func observed(in surroundings: StageSurroundings) -> HedgePolicy<any Error> {
    guard let tell = surroundings.teller(of: HedgeEvent.self) else { return policy }
    return policy.onEvent(tell)
  }
}

/// The stage that asks a second time.
public struct HedgeStage<Output: Sendable>: PipelineStage {
  @usableFromInline let hedge: Hedge

  /// What it is.
  public var traits: [StageTraits] {
    var traits = StageTraits(descriptor: hedge.descriptor)
    (traits.runsSeveralAtOnce, traits.livesOnFailures) = (true, true)
    return [traits]
  }

  /// Lets the budget be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    if let budget = hedge.policy.budget { events?.watch(budget, named: pipeline) }
  }

  /// Runs a call under it.
  @inlinable
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    let policy = hedge.observed(in: StageSurroundings(time: execution.time, origin: execution.origin))
    return try await policy.run(time: execution.time) { _ in try await call() }
  }

  /// Subscribes to a publisher under it.
  @inlinable
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    upstream.hedged(hedge.observed(in: upstream.surroundings), time: upstream.surroundings.time).receive(
      subscriber: downstream
    )
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
