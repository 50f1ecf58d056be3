import Combine
import StreamSupport

/// Subscribes for each subscriber once a value is requested, publishes the first value, and finishes.
///
/// For an upstream that asks for something itself as soon as it is subscribed to, such as a `flatMap`. It is subscribed to under
/// the deadline of the subscription, wherever the request comes from.
struct FirstWhenRequested<Upstream: Publisher>: Publisher {
  typealias Output = Upstream.Output
  typealias Failure = Upstream.Failure

  let name: String
  let upstream: Upstream

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let isToBeAsked = Locked(true)
    let pending = OneShot {}
    let deadline = Deadline.current
    Emitter(named: name, to: subscriber)
      .begin(
        whenRequested: { [upstream] emitter, _ in
          guard isToBeAsked.exchange(false) else { return }
          let first = FirstValue<Output, Failure> { result in
            switch result {
            case .success(let value):
              if let value { emitter.send(value) }
              emitter.send(completion: .finished)
            case .failure(let error): emitter.send(completion: .failure(error))
            }
          }
          // Cancelled at once, if the subscription was meanwhile.
          pending.keep(first)
          Deadline.replaced(by: deadline) { upstream.subscribe(first) }
        },
        whenCancelled: pending.cancel
      )
  }
}
