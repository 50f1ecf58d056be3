import Combine
import StreamSupport

/// Asks an outbox for something when a value is requested, and publishes its answer.
struct OutboxAnswer<Output: Sendable>: Publisher {
  typealias Failure = OutboxFailure
  typealias Ask = @Sendable (@escaping @Sendable (Result<Output, OutboxFailure>) -> Void) -> Void

  let ask: Ask

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    subscriber.receive(subscription: OutboxAnswerSubscription(ask, AnySubscriber(subscriber)))
  }
}

/// One question, and the subscriber that waits for the answer.
///
/// Unchecked, because the lock guards `phase`; no foreign code runs under it.
private final class OutboxAnswerSubscription<Output: Sendable>: Subscription, CustomStringConvertible,
  @unchecked Sendable
{
  private enum Phase {
    case ready(OutboxAnswer<Output>.Ask, AnySubscriber<Output, OutboxFailure>)
    case asked(AnySubscriber<Output, OutboxFailure>)
    case over
  }

  private let lock = Lock()
  private var phase: Phase

  init(_ ask: @escaping OutboxAnswer<Output>.Ask, _ downstream: AnySubscriber<Output, OutboxFailure>) {
    phase = .ready(ask, downstream)
  }

  var description: String { "Outbox" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let ask: OutboxAnswer<Output>.Ask? = lock.withLock {
      guard case .ready(let ask, let downstream) = phase else { return nil }
      phase = .asked(downstream)
      return ask
    }
    ask? { result in self.deliver(result) }
  }

  func cancel() {
    let before = end()
    withExtendedLifetime(before) {}
  }

  private func deliver(_ result: Result<Output, OutboxFailure>) {
    guard case .asked(let downstream) = lock.withLock({ phase }) else { return }
    var completion = Subscribers.Completion<OutboxFailure>.finished
    switch result {
    case .success(let value): _ = downstream.receive(value)
    case .failure(let failure): completion = .failure(failure)
    }
    // The downstream may have cancelled from inside the value.
    guard case .asked = end() else { return }
    downstream.receive(completion: completion)
  }

  private func end() -> Phase {
    lock.withLock {
      let before = phase
      phase = .over
      return before
    }
  }
}
