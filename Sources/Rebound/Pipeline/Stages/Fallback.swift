import Combine

/// The stage of a ``Pipeline`` that puts something in the place of an answer that has failed.
///
///     Fallback(to: .empty)
///     Fallback { _ in forecasts.value(for: city)?.value ?? .empty }     // forecasts: LastGood<City, Forecast>
///     Fallback(when: { $0 is TimedOut }, async: { _ in try await mirror.forecast(for: city) })
///
/// Without a condition it takes every failure, and belongs outermost: a retry or a breaker outside of it would never see
/// one. There is none for a cancel. If it fails itself the error is ``FallbackFailed``, with both.
public struct Fallback<Output: Sendable>: Sendable {
  private enum Replacement: Sendable {
    case now(@Sendable (any Error) throws -> Output)
    case later(@Sendable (any Error) async throws -> Output)
  }

  private let condition: (@Sendable (any Error) -> Bool)?
  private let replacement: Replacement

  /// Puts a value in the place of an answer.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - condition: For which failures; `nil` for all.
  public init(to value: Output, when condition: (@Sendable (any Error) -> Bool)? = nil) {
    self.condition = condition
    replacement = .now { _ in value }
  }

  /// Puts what a closure returns in the place of an answer.
  ///
  /// - Parameters:
  ///   - condition: For which failures; `nil` for all.
  ///   - value: Gets the failure.
  public init(
    when condition: (@Sendable (any Error) -> Bool)? = nil,
    _ value: @escaping @Sendable (any Error) throws -> Output
  ) {
    self.condition = condition
    replacement = .now(value)
  }

  /// Puts what an asynchronous function returns in the place of an answer.
  ///
  /// - Parameters:
  ///   - condition: For which failures; `nil` for all.
  ///   - value: Gets the failure; begins when a value is owed, and is cancelled with the subscription or the task.
  public init(
    when condition: (@Sendable (any Error) -> Bool)? = nil,
    async value: @escaping @Sendable (any Error) async throws -> Output
  ) {
    self.condition = condition
    replacement = .later(value)
  }
}

extension Fallback: PipelineStage {
  /// What it is.
  public var traits: [StageTraits] {
    let failures = condition == nil ? "all failures" : "some failures"
    var traits = StageTraits(descriptor: StageDescriptor(.fallback, parameters: [.init("when", failures)]))
    (traits.replacesFailures, traits.isForAllFailures) = (true, condition == nil)
    return [traits]
  }

  /// Runs a call under it.
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    let policy = policy(in: execution.surroundings)
    switch replacement {
    case .now(let value): return try await policy.run({ try await call() }, fallback: value)
    case .later(let value): return try await policy.run({ try await call() }, fallback: value)
    }
  }

  /// Subscribes to a publisher under it.
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    let policy = policy(in: upstream.surroundings)
    switch replacement {
    case .now(let value):
      upstream.fallback(policy) { error in Result { try value(error) }.publisher }.receive(subscriber: downstream)
    case .later(let value):
      upstream.fallback(policy, async: value).receive(subscriber: downstream)
    }
  }

  private func policy(in surroundings: StageSurroundings) -> FallbackPolicy<any Error> {
    var policy = FallbackPolicy<any Error>()
    if let condition { policy = policy.when(condition) }
    if let tell = surroundings.teller(of: FallbackEvent.self) { policy = policy.onEvent(tell) }
    return policy
  }
}
