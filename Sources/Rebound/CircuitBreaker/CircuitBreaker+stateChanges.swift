import Combine

extension CircuitBreaker {
  /// The state, and then each change of it, also the one from open to half open when nobody calls.
  ///
  /// By itself a breaker finds out with the next call that its open time is over. For a display that is too late; so as
  /// long as somebody observes this, a timer looks as well.
  ///
  /// - Parameter time: Waits until the open time is over.
  public func stateChanges(on time: TimeSource) -> AnyPublisher<State, Never> {
    let polls =
      stateChanges
      .map { state in
        Empty<State, Never>().protected(by: HalfOpening(breaker: state == .open ? self : nil), time: time)
      }
      .switchToLatest()
    return stateChanges.merge(with: polls).eraseToAnyPublisher()
  }
}

/// Waits until the open time of a breaker is over, and looks after it then.
private struct HalfOpening: Policy {
  /// `nil` if there is nothing to look after.
  let breaker: CircuitBreaker?

  var descriptor: StageDescriptor { StageDescriptor(.circuitBreaker) }

  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(breaker: breaker) }

  struct Machine: PolicyMachine {
    typealias Failure = Never

    let breaker: CircuitBreaker?
    /// When the wait is over, also by a clock that is early by its tolerance.
    var end: Duration?

    mutating func begins(_ execution: ExecutionContext) -> Decision<Never> {
      guard let breaker else { return .proceed }
      let now = execution.now
      if end == nil, let pause = breaker.timeUntilProbe(at: now) {
        end = now + pause
        return .wait(pause)
      }
      breaker.poll(at: max(now, end ?? now))
      return .proceed
    }
  }
}
