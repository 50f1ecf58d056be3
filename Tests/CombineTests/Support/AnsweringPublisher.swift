import Combine
import StreamSupport

/// A publisher whose answer to each request is a closure, called from inside the request.
///
/// Unchecked, because the lock guards every access to what it knows.
final class AnsweringPublisher<Output, Failure: Error>: Publisher, @unchecked Sendable {
  private let answer: (AnySubscriber<Output, Failure>, Int) -> Void
  private let lock = Lock()
  private var allRequests: [Subscribers.Demand] = []
  private var cancels = 0

  /// - Parameter answer: called with the subscriber and how many requests there were, this one included.
  init(answer: @escaping (AnySubscriber<Output, Failure>, Int) -> Void) {
    self.answer = answer
  }

  var requests: [Subscribers.Demand] { lock.withLock { allRequests } }
  var cancelCount: Int { lock.withLock { cancels } }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    subscriber.receive(subscription: Answering(publisher: self, subscriber: AnySubscriber(subscriber)))
  }

  private final class Answering: Subscription {
    let publisher: AnsweringPublisher
    let subscriber: AnySubscriber<Output, Failure>

    init(publisher: AnsweringPublisher, subscriber: AnySubscriber<Output, Failure>) {
      self.publisher = publisher
      self.subscriber = subscriber
    }

    func request(_ demand: Subscribers.Demand) {
      let count = publisher.lock.withLock {
        publisher.allRequests.append(demand)
        return publisher.allRequests.count
      }
      publisher.answer(subscriber, count)
    }

    func cancel() {
      publisher.lock.withLock { publisher.cancels += 1 }
    }
  }
}
