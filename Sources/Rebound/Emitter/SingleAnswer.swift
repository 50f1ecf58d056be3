import Combine
import StreamSupport

/// Asks for something for each subscriber, once a value is requested, publishes the answer, and finishes.
///
/// It asks under the deadline of the subscription, wherever the request comes from.
@usableFromInline
package struct SingleAnswer<Output, Failure: Error>: Publisher {
  /// Asks, and returns what to cancel if nobody waits any more.
  @usableFromInline package typealias Ask =
    (_ answer: @escaping @Sendable (Result<Output, Failure>) -> Void) -> (any Cancellable)?

  @usableFromInline let name: String
  @usableFromInline let ask: Ask

  @inlinable
  package init(name: String, ask: @escaping Ask) {
    self.name = name
    self.ask = ask
  }

  @inlinable
  package func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let isToBeAsked = Locked(true)
    let pending = OneShot {}
    let deadline = Deadline.current
    Emitter(named: name, to: subscriber)
      .begin(
        whenRequested: { [ask] emitter, _ in
          guard isToBeAsked.exchange(false) else { return }
          guard let work = Deadline.replaced(by: deadline, { ask { emitter.end(with: $0) } }) else { return }
          // Cancelled at once, if the subscription was meanwhile.
          pending.keep(work)
        },
        whenCancelled: pending.cancel
      )
  }
}

extension Publisher {
  /// Subscribes for each subscriber once a value is requested, publishes the first value, and finishes.
  ///
  /// For a publisher that asks for something itself as soon as it is subscribed to, such as a `flatMap`.
  func firstWhenRequested(_ name: String) -> some Publisher<Output, Failure> {
    SingleAnswer<Output?, Failure>(name: name) { answer in
      let first = FirstValue<Output, Failure>(whenKnown: answer)
      subscribe(first)
      return first
    }
    .compactMap(\.self)
  }
}
