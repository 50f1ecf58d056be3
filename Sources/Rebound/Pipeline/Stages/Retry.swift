/// The stage of a ``Pipeline`` that tries again what is inside of it.
///
/// See ``RetryPolicy`` for when, and ``Combine/Publisher/retry(_:time:)`` for what it does to a stream. It asks
/// an open ``CircuitBreaker`` again only if the policy has a deadline and the breaker may let a call through before that.
/// Under a ``Timeout/init(total:)`` no wait begins that would end after the limit: the last error passes on at once.
public struct Retry: Sendable {
  @usableFromInline let policy: RetryPolicy<any Error>

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

  /// Tries again as a policy for one type of failures says.
  ///
  ///     try Pipeline<Forecast>("weather") { Retry(.http); CircuitBreaker("weather", policy: policy) }
  ///
  /// An error of another type, such as the refusal of a stage inside, is judged as the failure that it becomes, where the
  /// type of failures is ``RefusalConvertible``; else it is not retried.
  ///
  /// - Parameters:
  ///   - policy: How often and how late.
  ///   - budget: How many retries all who hold it may make together; `nil` for that of the policy.
  public init<Failure: Error>(_ policy: RetryPolicy<Failure>, budget: RetryBudget? = nil) {
    self.init(RetryPolicy<any Error>(policy), budget: budget)
  }
}

extension Retry: Policy {
  /// What it does, with its numbers.
  public var descriptor: StageDescriptor { policy.descriptor }

  /// Whether it is for all failures matters to what stands around it.
  public var traits: StageTraits { policy.traits }

  /// Lets the budget be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    policy.register(with: events, pipeline: pipeline)
  }

  /// Makes the machine of one execution.
  @inlinable
  public func makeMachine(_ execution: ExecutionContext) -> RetryPolicy<any Error>.Machine {
    policy.makeMachine(execution)
  }
}

extension RetryPolicy {
  /// What it does, with its numbers.
  public var descriptor: StageDescriptor {
    var parameters = [
      StageDescriptor.Parameter("maxRetries", maxRetries.map { "\($0)" } ?? "unlimited"),
      StageDescriptor.Parameter("backoff", backoff.summary),
    ]
    if let deadline { parameters.append(.init("deadline", "\(deadline)")) }
    if isConditional { parameters.append(.init("when", "some failures")) }
    if budget != nil { parameters.append(.init("budget", "shared")) }
    return StageDescriptor(.retry, parameters: parameters)
  }

  /// Whether it is for all failures matters to what stands around it.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor)
    (traits.retries, traits.isForAllFailures) = (true, !isConditional)
    return traits
  }

  /// Lets the budget be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    if let budget { events?.watch(budget, named: pipeline) }
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
