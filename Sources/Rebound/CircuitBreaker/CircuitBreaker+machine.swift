import Combine

/// When a circuit breaker counts a stream as a success.
public enum StreamSuccess: Hashable, Sendable {
  /// When it finishes; the default.
  case finish
  /// At its first value: for streams that never end.
  case firstValue
}

extension CircuitBreaker: Policy {
  /// One call.
  ///
  /// A cancel counts as a success after a value, and has no vote before.
  public struct Machine: PolicyMachine {
    /// It does not care what calls fail with.
    public typealias Failure = any Error

    private let breaker: CircuitBreaker
    private let success: StreamSuccess
    private var permit: CircuitBreakerMachine.Permit?

    init(_ breaker: CircuitBreaker, _ success: StreamSuccess) {
      self.breaker = breaker
      self.success = success
    }

    /// Asks the breaker.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      switch breaker.permit({ execution.now }) {
      case .success(let granted):
        permit = granted
        return .proceed
      case .failure(let refusal): return .refuse(refusal)
      }
    }

    /// Tells the breaker.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      succeed(execution)
      return .proceed
    }

    /// Tells the breaker, so that a retry outside finds it as it now is.
    public mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
      if let permit { breaker.fail(permit, with: error, at: execution.now) }
      permit = nil
      return .proceed
    }

    /// Tells the breaker.
    public mutating func cancelled(_ execution: ExecutionContext) {
      if execution.delivered > 0 { return succeed(execution) }
      if let permit { breaker.cancel(permit, at: execution.now) }
      permit = nil
    }

    /// The first value matters where it is the success.
    public var observesValues: Bool { success == .firstValue }

    /// The first one is the success.
    public mutating func valuesCame(_ execution: ExecutionContext) {
      if execution.delivered > 0 { succeed(execution) }
    }

    private mutating func succeed(_ execution: ExecutionContext) {
      if let permit { breaker.succeed(permit) { execution.now } }
      permit = nil
    }
  }

  /// Makes the machine of one call.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(self, .finish) }

  /// The same breaker for streams that count as a success at another time.
  ///
  /// - Parameter success: When to count a stream as a success.
  public func succeeding(on success: StreamSuccess) -> CircuitBreakerForStreams {
    CircuitBreakerForStreams(breaker: self, success: success)
  }
}

/// A breaker for streams that count as a success at another time than their finish.
public struct CircuitBreakerForStreams: Policy {
  let breaker: CircuitBreaker
  let success: StreamSuccess

  /// What the breaker is.
  public var descriptor: StageDescriptor { breaker.descriptor }

  /// Those of the breaker.
  public var traits: StageTraits { breaker.traits }

  /// Lets the events and the gauge of the breaker be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    breaker.register(with: events, pipeline: pipeline)
  }

  /// Makes the machine of one call.
  public func makeMachine(_ execution: ExecutionContext) -> CircuitBreaker.Machine {
    CircuitBreaker.Machine(breaker, success)
  }
}
