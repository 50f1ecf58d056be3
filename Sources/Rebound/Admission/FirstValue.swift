import Combine
import StreamSupport

/// Takes the first value of a publisher, or its end if that comes first, and tells one closure.
///
/// Held by the publisher until then. The lock guards `phase`, and no foreign code runs under it.
package final class FirstValue<Input, Failure: Error>: Subscriber, Cancellable, CustomStringConvertible {
  private enum Phase {
    case ready((Result<Input?, Failure>) -> Void)
    case running((Result<Input?, Failure>) -> Void, any Subscription)
    case over
  }

  private let lock = Lock()
  private var phase: Phase

  /// - Parameter whenKnown: Called once at most, with the value, with `nil` for a finish without one, or with the
  ///   failure; not after a cancel.
  package init(whenKnown: @escaping (Result<Input?, Failure>) -> Void) {
    phase = .ready(whenKnown)
  }

  package var description: String { "FirstValue" }

  package func receive(subscription: any Subscription) {
    let isWanted = lock.withLock {
      guard case .ready(let whenKnown) = phase else { return false }
      phase = .running(whenKnown, subscription)
      return true
    }
    if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
  }

  package func receive(_ input: Input) -> Subscribers.Demand {
    switch end() {
    case .running(let whenKnown, let subscription):
      subscription.cancel()
      whenKnown(.success(input))
    // A publisher that sends before its subscription breaks the rules, but has answered.
    case .ready(let whenKnown): whenKnown(.success(input))
    case .over: break
    }
    return .none
  }

  package func receive(completion: Subscribers.Completion<Failure>) {
    let whenKnown: (Result<Input?, Failure>) -> Void
    switch end() {
    case .ready(let closure), .running(let closure, _): whenKnown = closure
    case .over: return
    }
    switch completion {
    case .finished: whenKnown(.success(nil))
    case .failure(let error): whenKnown(.failure(error))
    }
  }

  package func cancel() {
    if case .running(_, let subscription) = end() { subscription.cancel() }
  }

  private func end() -> Phase {
    lock.withLock {
      let before = phase
      phase = .over
      return before
    }
  }
}
