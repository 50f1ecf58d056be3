import Combine

/// How something describes itself: as text, in a playground, and by its mirror.
struct Looks: Equatable, CustomStringConvertible {
  let name: String
  let playground: String
  /// The labels of the mirror.
  let labels: [String?]
  /// Whether the mirror shows the class that the subject's class is made of.
  let showsAncestor: Bool

  init(_ name: String, _ labels: [String?] = []) {
    self.name = name
    playground = name
    self.labels = labels
    showsAncestor = false
  }

  init(of subject: Any) {
    name = "\(subject)"
    let playground = (subject as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription ?? "none"
    self.playground = "\(playground)"
    let mirror = Mirror(reflecting: subject)
    labels = mirror.children.map(\.label)
    showsAncestor = mirror.superclassMirror != nil
  }

  /// Nil if the subject says nothing of itself, and leaves it to Swift.
  init?(ofOwn subject: Any) {
    guard
      subject is any CustomStringConvertible || subject is any CustomReflectable
        || subject is any CustomPlaygroundDisplayConvertible
    else { return nil }
    name = (subject as? any CustomStringConvertible)?.description ?? "none"
    playground = (subject as? any CustomPlaygroundDisplayConvertible).map { "\($0.playgroundDescription)" } ?? "none"
    let mirror = (subject as? any CustomReflectable)?.customMirror
    labels = mirror?.children.map(\.label) ?? []
    showsAncestor = mirror?.superclassMirror != nil
  }

  var description: String {
    let ancestor = showsAncestor ? ", and an ancestor" : ""
    return "'\(name)' with \(labels.map { $0 ?? "-" })\(ancestor), '\(playground)' in playgrounds"
  }
}

extension Registration {
  /// How the subscription, or the subscriber of a pass-through, should describe itself; nil if it has no form of its
  /// own.
  var ownLooks: Looks? { looks.map { Looks($0.name, $0.labels) } }

  /// How the subscribers that come to the upstreams should describe themselves: as the subscription does, but for
  /// those in the table.
  var looksFromAbove: [Looks]? {
    guard let looks = subscribersAsSeenFromAbove[name] ?? ownLooks.map({ [$0] }) else { return nil }
    return (0..<sideCount).map { looks[min($0, looks.count - 1)] }
  }

  /// How the subscription, or the subscriber of a pass-through, describes itself.
  func shown() -> Looks {
    let stage = Stage()
    let spectator = attach(stage)
    let passesOn = type.isEmpty || family.outcomes[.subscription]?.hasPrefix("own") == true
    if !passesOn { stage.perform(.subscribe) }
    let shown = Looks(of: (passesOn ? stage.seenSubscriber : stage.seenSubscription) ?? "nothing")
    stage.close()
    withExtendedLifetime(spectator) {}
    return shown
  }

  /// How the subscribers that come to the upstreams describe themselves.
  func shownFromAbove() -> [Looks] {
    let stage = Stage()
    let spectator = attach(stage)
    let shown = stage.seenSubscribers.map { Looks(of: $0) }
    stage.close()
    withExtendedLifetime(spectator) {}
    return shown
  }
}

private let subject = [Looks("Subject", ["downstreamSubject", "upstreamSubscription", "subject"])]

private func side(of name: String) -> [Looks] {
  [Looks(name, ["parentSubscription"])]
}

/// What upstreams see of an operator, the last one for all others, where that is not what is seen from below.
let subscribersAsSeenFromAbove: [String: [Looks]] = [
  "multicast": subject,
  "makeConnectable": subject,
  "share": subject,
  "autoconnect": subject,
  "merge": side(of: "Merge"),
  "merge of 3": side(of: "Merge"),
  "merge of 4": side(of: "Merge"),
  "merge of 5": side(of: "Merge"),
  "merge of 6": side(of: "Merge"),
  "merge of 7": side(of: "Merge"),
  "merge of 8": side(of: "Merge"),
  "merge of many": side(of: "Merge"),
  "zip": side(of: "Zip"),
  "zip of 3": side(of: "Zip"),
  "zip of 4": side(of: "Zip"),
  "combineLatest": side(of: "CombineLatest"),
  "combineLatest of 3": side(of: "CombineLatest"),
  "combineLatest of 4": side(of: "CombineLatest"),
  // The registration has a map above it.
  "switchToLatest": [Looks("Map")],
  "encode": [Looks("MapError")],
  "decode": [Looks("MapError")],
]

/// The publishers that describe themselves; all others leave it to Swift.
let publishersThatDescribeThemselves: [String: Looks] = [
  "eraseToAnyPublisher": Looks("AnyPublisher")
]
