import Combine

/// How a subscription is over.
enum Ending: String, CaseIterable {
  case finish, failure, cancel

  var steps: [Step] {
    switch self {
    case .finish: [.subscribe, .request(.unlimited), .send, .finish]
    case .failure: [.subscribe, .request(.unlimited), .send, .fail]
    case .cancel: [.subscribe, .request(.unlimited), .send, .cancel]
    }
  }
}

extension Registration {
  /// What is still there although nobody outside holds it any more.
  ///
  /// The publisher is held throughout. The upstreams let go of their subscribers after a look at their subscriptions: a
  /// subscriber of theirs may hold what is downstream as long as it lives.
  func left(on stage: Stage, after ending: Ending) -> [String] {
    stage.inputs = inputs
    let downstream = attachedAndEnded(stage, ending)
    var left = stage.letGo().enumerated().filter { $0.element.object != nil }.map { "subscription \($0.offset)" }
    stage.letGoOfSubscribers()
    if downstream.object != nil { left.append("subscriber") }
    return left
  }

  /// What may stay: what has not ended, and the connection that somebody keeps.
  func mayLeave(after ending: Ending) -> [String] {
    switch ending {
    case .finish, .failure: isEndless && name != "NotificationCenter.publisher" ? ["subscriber"] : []
    case .cancel: ["multicast", "makeConnectable"].contains(name) ? ["subscription 0"] : []
    }
  }

  /// Whether who holds the subscription past the end still holds the subscriber, too.
  func keepsSubscriber(on stage: Stage, after ending: Ending) -> Bool {
    stage.inputs = inputs
    let downstream = attachedAndEnded(stage, ending)
    let subscription = stage.seenSubscription
    _ = stage.letGo()
    stage.letGoOfSubscribers()
    return withExtendedLifetime(subscription) { downstream.object != nil }
  }

  /// Whether nothing makes it end but a cancel.
  var isEndless: Bool {
    ["Published", "ObservableObjectPublisher", "Timer.publish", "NotificationCenter.publisher"].contains(name)
  }

  /// Whether it should.
  ///
  /// Most do, for good. Not those who pass on the subscription of their upstream, and not sources.
  var mayKeepSubscriber: Bool {
    let isSource = (Registration.sources + Registration.foundation).contains { $0.name == name }
    return !isSource && family.outcomes[.subscription]?.hasPrefix("own") != true
  }

  private func attachedAndEnded(_ stage: Stage, _ ending: Ending) -> Weak {
    let spectator = attach(stage)
    for step in ending.steps { stage.perform(step) }
    return Weak(object: spectator)
  }
}
