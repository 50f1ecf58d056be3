import Combine
import Synchronization

/// A subscription that writes down what is asked of it, and delivers nothing.
final class SubscriptionSpy: Subscription, Sendable {
  private let log = Mutex<(requests: [Subscribers.Demand], cancelCount: Int)>(([], 0))

  var requests: [Subscribers.Demand] { log.withLock { $0.requests } }
  var cancelCount: Int { log.withLock { $0.cancelCount } }

  func request(_ demand: Subscribers.Demand) { log.withLock { $0.requests.append(demand) } }
  func cancel() { log.withLock { $0.cancelCount += 1 } }
}
