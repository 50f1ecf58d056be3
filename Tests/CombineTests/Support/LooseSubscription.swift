import Combine

/// A subscription that belongs to no publisher, and writes down what is asked of it.
final class LooseSubscription: Subscription {
  private(set) var requests: [Subscribers.Demand] = []
  private(set) var cancelCount = 0

  func request(_ demand: Subscribers.Demand) { requests.append(demand) }
  func cancel() { cancelCount += 1 }
}
