import Combine

extension Publisher {
  /// The subscription that a subscriber gets which asks for nothing.
  func subscriptionForTesting() -> (any Subscription)? {
    let keeper = Keeper<Output, Failure>()
    subscribe(keeper)
    return keeper.subscription
  }
}

/// How something describes itself: as text, in a playground, and the labels of its mirror's inner publishers.
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

/// What a subject tells under a label; nil if it tells nothing of the kind.
func toldChild(_ label: String, of subject: Any?) -> Any? {
  // Unwrapped first, since an optional has a mirror of its own.
  guard let subject else { return nil }
  return (subject as? any CustomReflectable)?.customMirror.children.first { $0.label == label }?.value
}

/// What a subject tells under a label, written out.
func toldText(_ label: String, of subject: Any?) -> String? {
  toldChild(label, of: subject).map { "\($0)" }
}

/// The labels of all that a subject tells.
func labels(of subject: Any) -> [String?] {
  Mirror(reflecting: subject).children.map(\.label)
}
