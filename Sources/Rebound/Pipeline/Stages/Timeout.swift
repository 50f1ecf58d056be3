/// The stage of a ``Pipeline`` that limits the time of what is inside of it.
///
///     Timeout(total: .seconds(10))     // outside of the retry: all attempts and their waits together
///     Timeout(attempt: .seconds(3))    // inside of the retry: each attempt
public struct Timeout: Sendable {
  @usableFromInline let policy: TimeoutPolicy

  /// Limits the time of everything, retries and their waits included.
  ///
  /// - Parameter total: Positive.
  public init(total: Duration) {
    self.init(.total(total))
  }

  /// Limits the time of each attempt.
  ///
  /// - Parameter attempt: Positive.
  public init(attempt: Duration) {
    self.init(.attempt(attempt))
  }

  /// Limits the time as a policy says.
  ///
  /// - Parameter policy: The limits.
  public init(_ policy: TimeoutPolicy) {
    self.policy = policy
  }
}

extension Timeout: Policy {
  /// Its limits.
  public var descriptor: StageDescriptor { policy.descriptor }

  /// Its limits matter to those of others.
  public var traits: StageTraits { policy.traits }

  /// Makes the machine of one execution.
  @inlinable
  public func makeMachine(_ execution: ExecutionContext) -> TimeoutPolicy.Machine {
    policy.makeMachine(execution)
  }

  /// Runs an asynchronous function with a deadline.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == any Error {
    try await policy.execute(execution, call)
  }
}

extension TimeoutPolicy {
  /// Its limits.
  public var descriptor: StageDescriptor {
    let limits = [
      ("total", total), ("attempt", attempt), ("firstValue", firstValue), ("betweenValues", betweenValues),
    ]
    let parameters = limits.compactMap { name, limit in limit.map { StageDescriptor.Parameter(name, "\($0)") } }
    return StageDescriptor(.timeout, name: name, parameters: parameters)
  }

  /// Its limits matter to those of others.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor)
    (traits.total, traits.attempt) = (total, attempt)
    return traits
  }
}
