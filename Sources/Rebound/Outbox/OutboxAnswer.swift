import Combine

/// Asks an outbox for something when a value is requested, and publishes its answer.
struct OutboxAnswer<Output: Sendable>: Publisher {
  typealias Failure = OutboxFailure
  typealias Ask = @Sendable (@escaping @Sendable (Result<Output, OutboxFailure>) -> Void) -> Void

  let ask: Ask

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let answer = SingleAnswer(named: "Outbox", AnySubscriber(subscriber)) { [ask] answer in
      ask(answer)
      return nil
    }
    subscriber.receive(subscription: answer)
  }
}
