import Combine

/// The stage of a ``Pipeline`` that lets things go wrong on purpose.
public struct ChaosStage<Output: Sendable>: PipelineStage {
  let chaos: Chaos<Output, any Error>

  /// What it is.
  public var traits: [StageTraits] {
    [
      StageTraits(descriptor: StageDescriptor(.chaos))
    ]
  }

  /// Runs a call under it.
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    try await observed(in: execution.surroundings).run(time: execution.time) { try await call() }
  }

  /// Subscribes to a publisher under it.
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    upstream.chaos(observed(in: upstream.surroundings), time: upstream.surroundings.time).receive(
      subscriber: downstream
    )
  }

  private func observed(in surroundings: StageSurroundings) -> Chaos<Output, any Error> {
    guard let tell = surroundings.teller(of: ChaosEvent.self) else { return chaos }
    return chaos.onEvent(tell)
  }
}
