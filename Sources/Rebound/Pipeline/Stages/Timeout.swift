import Combine

/// The stage of a ``Pipeline`` that limits the time of what is inside of it.
///
///     Timeout(total: .seconds(10))     // outside of the retry: all attempts and their waits together
///     Timeout(attempt: .seconds(3))    // inside of the retry: each attempt
public struct Timeout: Sendable {
  private let policy: TimeoutPolicy
  private let total: Duration?
  private let attempt: Duration?

  /// Limits the time of everything, retries and their waits included.
  ///
  /// - Parameter total: Positive.
  public init(total: Duration) {
    self.init(.total(total), total: total)
  }

  /// Limits the time of each attempt.
  ///
  /// - Parameter attempt: Positive.
  public init(attempt: Duration) {
    self.init(.attempt(attempt), attempt: attempt)
  }

  /// Limits the time as a policy says.
  ///
  /// - Parameter policy: The limits.
  public init(_ policy: TimeoutPolicy) {
    self.init(policy, total: policy.total, attempt: policy.attempt)
  }

  private init(_ policy: TimeoutPolicy, total: Duration? = nil, attempt: Duration? = nil) {
    self.policy = policy
    self.total = total
    self.attempt = attempt
  }
}

extension Timeout: AnyValueStageWork {
  var traits: StageTraits {
    let limits = [
      ("total", total), ("attempt", attempt), ("firstValue", policy.firstValue),
      ("betweenValues", policy.betweenValues),
    ]
    let parameters = limits.compactMap { name, limit in limit.map { StageDescriptor.Parameter(name, "\($0)") } }
    return StageTraits(
      descriptor: StageDescriptor(.timeout, name: policy.name, parameters: parameters),
      total: total,
      attempt: attempt
    )
  }

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream
      .timeout(observed(in: surroundings), scheduler: waiting.scheduler, options: waiting.options)
      .eraseToAnyPublisher()
  }

  func protect<Output: Sendable, Context: Scheduler>(
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>,
    _ inside: @escaping (StageSurroundings) -> AnyPublisher<Output, any Error>
  ) -> AnyPublisher<Output, any Error> {
    guard total != nil else { return protect(inside(surroundings), in: surroundings, on: waiting) }
    return observed(in: surroundings)
      .publisher(scheduler: waiting.scheduler, options: waiting.options) { deadline in
        var inner = surroundings
        inner.deadline = deadline.nearer(surroundings.deadline)
        return inside(inner)
      }
      .eraseToAnyPublisher()
  }

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    let policy = observed(in: surroundings)
    return { try await policy.run(clock: clock, isolation: nil, call) }
  }

  private func observed(in surroundings: StageSurroundings) -> TimeoutPolicy {
    let policy = policy.named(surroundings.pipeline)
    guard let tell = surroundings.teller(of: TimeoutEvent.self) else { return policy }
    return policy.onEvent(tell)
  }
}

extension TimeoutPolicy {
  /// The same policy with this name, unless it has one.
  fileprivate func named(_ name: String) -> TimeoutPolicy {
    guard self.name == nil else { return self }
    // The limits were checked with the pipeline; the policy stays without a name if they make no sense together.
    let named = try? TimeoutPolicy(
      total: total,
      attempt: attempt,
      firstValue: firstValue,
      betweenValues: betweenValues,
      name: name
    )
    guard let named else { return self }
    return observer.map(named.onEvent) ?? named
  }
}
