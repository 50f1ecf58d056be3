import Combine

/// Keeps the subscription that it gets, and asks for nothing.
final class SubscriptionHolder<Input, Failure: Error>: Subscriber {
  private(set) var subscription: (any Subscription)?

  init() {}

  func receive(subscription: any Subscription) { self.subscription = subscription }
  func receive(_ input: Input) -> Subscribers.Demand { .none }
  func receive(completion: Subscribers.Completion<Failure>) {}
}

extension Publisher {
  /// The subscription that a subscriber gets which asks for nothing.
  func subscriptionForTesting() -> (any Subscription)? {
    let holder = SubscriptionHolder<Output, Failure>()
    subscribe(holder)
    return holder.subscription
  }
}

/// How something describes itself: as text, in a playground, and the labels of its mirror's children.
struct SelfPortrait: Equatable {
  let description: String
  let playgroundDescription: String
  let labels: [String?]

  init(_ description: String, labels: [String?]) {
    self.description = description
    playgroundDescription = description
    self.labels = labels
  }

  init(of subject: Any?) {
    let subject = subject ?? "nothing"
    description = (subject as? any CustomStringConvertible)?.description ?? "-"
    let playground = (subject as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription
    playgroundDescription = playground.map { "\($0)" } ?? "-"
    labels = (subject as? any CustomReflectable)?.customMirror.children.map(\.label) ?? ["-"]
  }
}

/// The child of a mirror with this label, written out; nil if there is none.
func child(_ label: String, of subject: Any?) -> String? {
  guard let subject else { return nil }
  return (subject as? any CustomReflectable)?.customMirror.children.first { $0.label == label }.map { "\($0.value)" }
}
