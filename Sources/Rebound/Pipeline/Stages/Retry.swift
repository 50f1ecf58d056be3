import Combine

/// The stage of a ``Pipeline`` that tries again what is inside of it.
///
/// See ``RetryPolicy`` for when, and ``Combine/Publisher/retry(_:scheduler:options:)`` for what it does to a stream. It asks
/// an open ``CircuitBreaker`` again only if the policy has a deadline and the breaker may let a call through before that.
/// Under a ``Timeout/init(total:)`` no wait begins that would end after the limit: the last error passes on at once.
public struct Retry: Sendable {
  private let policy: RetryPolicy<any Error>

  /// Tries again as a policy says.
  ///
  /// - Parameters:
  ///   - policy: How often and how late.
  ///   - condition: For which errors; `nil` for those that the policy names.
  ///   - budget: How many retries all who hold it may make together; `nil` for that of the policy.
  public init(
    _ policy: RetryPolicy<any Error> = .standard,
    when condition: (@Sendable (any Error) -> Bool)? = nil,
    budget: RetryBudget? = nil
  ) {
    var policy = policy
    if let condition { policy = policy.when(condition) }
    if let budget { policy = policy.within(budget) }
    self.policy = policy
  }

  private var isForAllFailures: Bool { !policy.isConditional }
}

extension Retry: AnyValueStageWork {
  var traits: StageTraits {
    var parameters = [
      StageDescriptor.Parameter("maxRetries", policy.maxRetries.map { "\($0)" } ?? "unlimited"),
      StageDescriptor.Parameter("backoff", policy.backoff.summary),
    ]
    if let deadline = policy.deadline { parameters.append(.init("deadline", "\(deadline)")) }
    if !isForAllFailures { parameters.append(.init("when", "some failures")) }
    if policy.budget != nil { parameters.append(.init("budget", "shared")) }
    return StageTraits(
      descriptor: StageDescriptor(.retry, parameters: parameters),
      isForAllFailures: isForAllFailures
    )
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
      .retry(observed(in: surroundings), scheduler: waiting.scheduler, options: waiting.options)
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

  private func observed(in surroundings: StageSurroundings) -> RetryPolicy<any Error> {
    let limited = surroundings.deadline.map { policy.within($0) } ?? policy
    guard let tell = surroundings.teller(of: RetryEvent.self) else { return limited }
    return limited.onEvent(tell)
  }
}

extension Backoff {
  /// One line: "exponential from 0.5 seconds ×2.0, up to 20.0 seconds, full jitter".
  fileprivate var summary: String {
    let shape =
      switch curve {
      case .constant(let delay): "constant \(delay)"
      case .linear(let step): "linear by \(step)"
      case .exponential(let base, let multiplier): "exponential from \(base) ×\(multiplier)"
      case .steps(let delays): "steps \(delays.map { "\($0)" }.joined(separator: " "))"
      case .custom: "custom"
      }
    let limit = cap.map { ", up to \($0)" } ?? ""
    return shape + limit + jitter.summary
  }
}

extension Jitter {
  fileprivate var summary: String {
    switch kind {
    case .none: ""
    case .ratio(let ratio): ", jitter ±\(ratio)"
    case .full: ", full jitter"
    case .equal: ", equal jitter"
    case .decorrelated: ", decorrelated jitter"
    case .smoothDecorrelated: ", smooth decorrelated jitter"
    }
  }
}
