import Combine

extension CircuitBreaker: AnyValueStageWork {
  var traits: StageTraits {
    StageTraits(descriptor: StageDescriptor(.circuitBreaker, name: name), sharedObject: ObjectIdentifier(self))
  }

  func register(with events: PolicyEvents, pipeline: String) {
    events.watch(self)
  }

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream.protected(by: self).eraseToAnyPublisher()
  }

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    { try await self.run(isolation: nil, call) }
  }
}

extension Bulkhead: AnyValueStageWork {
  var traits: StageTraits {
    // How many may run changes where the limit is adaptive, so it is a gauge and no parameter.
    StageTraits(descriptor: StageDescriptor(.bulkhead, name: name), sharedObject: ObjectIdentifier(self))
  }

  func register(with events: PolicyEvents, pipeline: String) {
    events.watch(self)
  }

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream.limited(by: self, scheduler: waiting.scheduler, options: waiting.options).eraseToAnyPublisher()
  }

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    { try await self.run(clock: clock, isolation: nil, call) }
  }
}

extension RateLimiter: AnyValueStageWork {
  var traits: StageTraits {
    StageTraits(descriptor: StageDescriptor(.rateLimiter, name: name), sharedObject: ObjectIdentifier(self))
  }

  func register(with events: PolicyEvents, pipeline: String) {
    events.watch(self)
  }

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream.rateLimited(by: self, scheduler: waiting.scheduler, options: waiting.options).eraseToAnyPublisher()
  }

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    { try await self.run(clock: clock, isolation: nil, call) }
  }
}
