import Combine

/// The stage that lets things go wrong on purpose.
struct ChaosStage<Output: Sendable>: StageWork {
  let chaos: Chaos<Output, any Error>

  var traits: StageTraits {
    StageTraits(descriptor: StageDescriptor(.chaos))
  }

  func protect<Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream
      .chaos(observed(in: surroundings), scheduler: waiting.scheduler, options: waiting.options)
      .eraseToAnyPublisher()
  }

  func protect<C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    let chaos = observed(in: surroundings)
    return { try await chaos.run(clock: clock, isolation: nil, call) }
  }

  private func observed(in surroundings: StageSurroundings) -> Chaos<Output, any Error> {
    guard let tell = surroundings.teller(of: ChaosEvent.self) else { return chaos }
    return chaos.onEvent(tell)
  }
}
