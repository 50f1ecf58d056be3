import Combine
import StreamSupport

/// Takes the first value of a publisher, or its end if that comes first, and tells one closure.
///
/// Held by the publisher until then.
@usableFromInline
package final class FirstValue<Input, Failure: Error>: Subscriber, Cancellable, CustomStringConvertible, Sendable {
  @usableFromInline enum Phase {
    case ready((Result<Input?, Failure>) -> Void)
    case running((Result<Input?, Failure>) -> Void, any Subscription)
    case over
  }

  @usableFromInline let phase: Locked<Phase>

  /// - Parameter whenKnown: Called once at most, with the value, with `nil` for a finish without one, or with the
  ///   failure; not after a cancel.
  @inlinable
  package init(whenKnown: @escaping (Result<Input?, Failure>) -> Void) {
    phase = Locked(.ready(whenKnown))
  }

  @inlinable
  package var description: String { "FirstValue" }

  @inlinable
  package func receive(subscription: any Subscription) {
    let isWanted = phase.withLock { phase in
      guard case .ready(let whenKnown) = phase else { return false }
      phase = .running(whenKnown, subscription)
      return true
    }
    if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
  }

  @inlinable
  package func receive(_ input: Input) -> Subscribers.Demand {
    switch phase.exchange(.over) {
    case .running(let whenKnown, let subscription):
      subscription.cancel()
      whenKnown(.success(input))
    // A publisher that sends before its subscription breaks the rules, but has answered.
    case .ready(let whenKnown): whenKnown(.success(input))
    case .over: break
    }
    return .none
  }

  @inlinable
  package func receive(completion: Subscribers.Completion<Failure>) {
    let whenKnown: (Result<Input?, Failure>) -> Void
    switch phase.exchange(.over) {
    case .ready(let closure), .running(let closure, _): whenKnown = closure
    case .over: return
    }
    switch completion {
    case .finished: whenKnown(.success(nil))
    case .failure(let error): whenKnown(.failure(error))
    }
  }

  @inlinable
  package func cancel() {
    if case .running(_, let subscription) = phase.exchange(.over) { subscription.cancel() }
  }
}

extension Publisher where Output: Sendable {
  /// Waits in an asynchronous function for the first value; a cancel of the task cancels the subscription.
  ///
  /// - Parameter deadline: When it waits no longer; `nil` for a wait that is as long as it takes.
  /// - Returns: `nil` for a finish without one.
  /// - Throws: The failure; ``TimedOut`` if the deadline comes first; `CancellationError` if the task is cancelled.
  @inlinable
  package nonisolated(nonsending) func firstValueIfAny(until deadline: Deadline? = nil) async throws -> Output? {
    try await Answer.wait(until: deadline) { answer in
      let first = FirstValue<Output, Failure>(whenKnown: answer)
      subscribe(first)
      return first
    }
  }
}
