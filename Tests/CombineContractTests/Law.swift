import Combine

/// One step of a scenario.
enum Step {
  /// Every upstream hands over a subscription.
  case subscribe
  /// Every upstream hands over one more subscription.
  case subscribeAgain
  /// The subscriber asks for more.
  case request(Subscribers.Demand)
  /// The subscriber cancels.
  case cancel
  /// Every upstream sends a value that comes through, in turn.
  case send
  /// Every upstream sends a value that is held back.
  case sendSkipped
  /// Every upstream sends the value at which the operator ends.
  case sendLast
  /// Every upstream finishes.
  case finish
  /// The first upstream fails.
  case fail
}

/// What the subscriber does from inside a callback, the first time it is called; `answer` is for every value.
struct Reactions {
  var toSubscription: Step?
  var toFirstValue: Step?
  var toEnd: Step?
  var answer: Subscribers.Demand = .none
}

/// A law of the contract: the name of a scenario whose outcome the tables give.
enum Law: String, CaseIterable, Codable {
  case valueBeforeSubscription = "a value before the subscription"
  case finishBeforeSubscription = "a finish before the subscription"
  case subscription = "the subscription"
  case requestBeforeUpstream = "a request before the upstream's subscription"
  case cancelBeforeUpstream = "a cancel before the upstream's subscription"
  case requestNone = "a request for no values"
  case requestOne = "a request for one value"
  case requestTwice = "two finite requests"
  case requestAll = "a request for all values"
  case requestNoLess = "a finite request after one for all values"
  case delivery = "a value within the demand"
  case answer = "a subscriber that asks for more by its answer"
  case requestInsideValue = "a request from inside a value"
  case requestInsideSubscription = "a request from inside the subscription"
  case cancelInsideSubscription = "a cancel from inside the subscription"
  case cancelInsideValue = "a cancel from inside a value"
  case cancelInsideEnd = "a cancel from inside the completion"
  case sendInsideValue = "a value sent from inside a value"
  case finishInsideValue = "a finish sent from inside a value"
  case finishInsideEnd = "a finish sent from inside the finish"
  case finishWithoutDemand = "a finish that nobody waits for"
  case failWithoutDemand = "a failure that nobody waits for"
  case finishTwice = "a second finish"
  case failTwice = "a second failure"
  case valueAfterEnd = "a value after the finish"
  case valueAfterFailure = "a value after the failure"
  case requestAfterEnd = "a request and a cancel after the failure"
  case cancelTwice = "a second cancel"
  case requestAfterCancel = "a request after the cancel"
  case eventsAfterCancel = "a value and a finish after the cancel"
  case heldAtCancel = "a value that is held at the cancel"
  case secondSubscription = "a second subscription"
  case subscriptionAfterCancel = "a subscription after the cancel"
  case subscriptionAfterEnd = "a subscription after the failure"
  case unaskedValue = "a value that nobody asked for"
  case valueBeyondDemand = "a value beyond the demand"
  case skippedValue = "a value that is held back"
  case ownEnd = "an end of the operator's own accord"

  var steps: [Step] {
    switch self {
    case .valueBeforeSubscription: [.send]
    case .finishBeforeSubscription: [.finish]
    case .subscription: [.subscribe]
    case .requestBeforeUpstream: [.request(.max(2)), .subscribe]
    case .cancelBeforeUpstream: [.cancel, .subscribe]
    case .requestNone: [.subscribe, .request(.none)]
    case .requestOne: [.subscribe, .request(.max(1))]
    case .requestTwice: [.subscribe, .request(.max(2)), .request(.max(3))]
    case .requestAll: [.subscribe, .request(.unlimited)]
    case .requestNoLess: [.subscribe, .request(.unlimited), .request(.max(1))]
    case .delivery, .answer, .requestInsideValue: [.subscribe, .request(.max(2)), .send]
    case .requestInsideSubscription: [.subscribe]
    case .cancelInsideSubscription: [.subscribe, .send, .finish]
    case .cancelInsideValue: [.subscribe, .request(.unlimited), .send, .send, .finish]
    case .sendInsideValue, .finishInsideValue: [.subscribe, .request(.unlimited), .send]
    case .cancelInsideEnd, .finishInsideEnd: [.subscribe, .request(.unlimited), .finish]
    case .finishWithoutDemand: [.subscribe, .finish]
    case .failWithoutDemand: [.subscribe, .fail]
    case .finishTwice: [.subscribe, .request(.unlimited), .finish, .finish]
    case .failTwice: [.subscribe, .fail, .fail]
    case .valueAfterEnd: [.subscribe, .request(.unlimited), .finish, .send]
    case .valueAfterFailure: [.subscribe, .request(.unlimited), .fail, .send]
    case .requestAfterEnd: [.subscribe, .fail, .request(.max(1)), .cancel]
    case .cancelTwice: [.subscribe, .cancel, .cancel]
    case .requestAfterCancel: [.subscribe, .cancel, .request(.max(1))]
    case .eventsAfterCancel: [.subscribe, .request(.unlimited), .cancel, .send, .finish]
    case .heldAtCancel: [.subscribe, .send, .cancel, .request(.unlimited), .finish]
    case .secondSubscription: [.subscribe, .subscribeAgain]
    case .subscriptionAfterCancel: [.subscribe, .cancel, .subscribeAgain]
    case .subscriptionAfterEnd: [.subscribe, .fail, .subscribeAgain]
    case .unaskedValue: [.subscribe, .send]
    case .valueBeyondDemand: [.subscribe, .request(.max(1)), .send, .send]
    case .skippedValue: [.subscribe, .request(.max(2)), .sendSkipped]
    case .ownEnd: [.subscribe, .request(.unlimited), .sendLast, .send, .finish]
    }
  }

  var reactions: Reactions {
    switch self {
    case .answer: Reactions(answer: .max(3))
    case .requestInsideValue: Reactions(toFirstValue: .request(.max(1)))
    case .requestInsideSubscription: Reactions(toSubscription: .request(.max(2)))
    case .cancelInsideSubscription: Reactions(toSubscription: .cancel)
    case .cancelInsideValue: Reactions(toFirstValue: .cancel)
    case .cancelInsideEnd: Reactions(toEnd: .cancel)
    case .sendInsideValue: Reactions(toFirstValue: .send)
    case .finishInsideValue: Reactions(toFirstValue: .finish)
    case .finishInsideEnd: Reactions(toEnd: .finish)
    default: Reactions()
    }
  }

  /// Whether the first upstream fails in the scenario.
  var fails: Bool {
    steps.contains { if case .fail = $0 { true } else { false } }
  }

  /// Whether the subscriber cancels in the scenario.
  var cancels: Bool {
    let reactions = [reactions.toSubscription, reactions.toFirstValue, reactions.toEnd]
    return (steps + reactions.compactMap(\.self)).contains { if case .cancel = $0 { true } else { false } }
  }
}
