/// A kind of publisher, and what its members do in each scenario.
///
/// The outcomes are logs in the words of ``Stage``. `$v` stands for a value as it comes out; `*` before a word means
/// once for every upstream, `1+` for each but the first, `2+` from the third on, `-` for each but the last, `~` for the
/// last, `2=` for the third if there is one; `a/b` are words that come together. `traps` says that the process stops, which exit tests show for some members of each family. A
/// law without an outcome has no meaning for the family.
struct Family {
  let name: String
  let outcomes: [Law: String]

  func with(_ name: String, _ outcomes: [Law: String]) -> Family {
    Family(name: name, outcomes: self.outcomes.merging(outcomes) { $1 })
  }

  /// Passes its upstream's own subscription on, and so all that comes and all that is asked.
  static let passThrough = Family(
    name: "pass-through",
    outcomes: [
      .valueBeforeSubscription: "value:$v answer:0",
      .finishBeforeSubscription: "end",
      .subscription: "own",
      .requestNone: "own ask:0",
      .requestOne: "own ask:1",
      .requestTwice: "own ask:2 ask:3",
      .requestAll: "own ask:all",
      .requestNoLess: "own ask:all ask:1",
      .delivery: "own ask:2 value:$v answer:0",
      .answer: "own ask:2 value:$v answer:3",
      .requestInsideValue: "own ask:2 value:$v ask:1 answer:0",
      .requestInsideSubscription: "own ask:2",
      .cancelInsideSubscription: "own cancel value:$v answer:0 end",
      .cancelInsideValue: "own ask:all value:$v cancel answer:0 value:$v answer:0 end",
      .cancelInsideEnd: "own ask:all end cancel",
      .sendInsideValue: "own ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "own ask:all value:$v end answer:0",
      .finishInsideEnd: "own ask:all end end",
      .finishWithoutDemand: "own end",
      .failWithoutDemand: "own error",
      .finishTwice: "own ask:all end end",
      .failTwice: "own error error",
      .valueAfterEnd: "own ask:all end value:$v answer:0",
      .valueAfterFailure: "own ask:all error value:$v answer:0",
      .requestAfterEnd: "own error ask:1 cancel",
      .cancelTwice: "own cancel cancel",
      .requestAfterCancel: "own cancel ask:1",
      .eventsAfterCancel: "own ask:all cancel value:$v answer:0 end",
      .secondSubscription: "own own",
      .subscriptionAfterCancel: "own cancel own",
      .subscriptionAfterEnd: "own error own",
      .unaskedValue: "own value:$v answer:0",
      .valueBeyondDemand: "own ask:1 value:$v answer:0 value:$v answer:0",
      .skippedValue: "own ask:2 answer:1",
    ]
  )

  /// Has a subscription of its own, asks its upstream for what it is asked for, and keeps order: one subscription, one
  /// end, nothing after it.
  static let stateful = Family(
    name: "stateful",
    outcomes: [
      .cancelBeforeUpstream: "sub",
      .valueBeforeSubscription: "*answer:0",
      .finishBeforeSubscription: "",
      .subscription: "sub",
      .requestNone: "traps",
      .requestOne: "sub *ask:1",
      .requestTwice: "sub *ask:2 *ask:3",
      .requestAll: "sub *ask:all",
      .requestNoLess: "sub *ask:all *ask:1",
      .delivery: "sub *ask:2 value:$v answer:0",
      .answer: "sub *ask:2 value:$v answer:3",
      .requestInsideValue: "sub *ask:2 value:$v *ask:1 answer:0",
      .requestInsideSubscription: "sub *ask:2",
      .cancelInsideSubscription: "sub *cancel *answer:0",
      .cancelInsideValue: "sub *ask:all value:$v *cancel *answer:0 *answer:0",
      .cancelInsideEnd: "sub *ask:all end",
      .sendInsideValue: "sub *ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub *ask:all value:$v end answer:0",
      .finishInsideEnd: "sub *ask:all end",
      .finishWithoutDemand: "sub end",
      .failWithoutDemand: "sub error",
      .finishTwice: "sub *ask:all end",
      .failTwice: "sub error",
      .valueAfterEnd: "sub *ask:all end *answer:0",
      .valueAfterFailure: "sub *ask:all error *answer:0",
      .requestAfterEnd: "sub error",
      .cancelTwice: "sub *cancel",
      .requestAfterCancel: "sub *cancel",
      .eventsAfterCancel: "sub *ask:all *cancel *answer:0",
      .secondSubscription: "sub *refused",
      .subscriptionAfterCancel: "sub *cancel *refused",
      .subscriptionAfterEnd: "sub error *refused",
      .unaskedValue: "sub value:$v answer:0",
      .valueBeyondDemand: "sub *ask:1 value:$v answer:0 value:$v answer:0",
      .skippedValue: "sub *ask:2 answer:1",
      .ownEnd: "sub *ask:all cancel end answer:0 answer:0",
    ]
  )

  /// Filters, and has no patience with events before its subscription.
  static let filter = stateful.with(
    "filter",
    [.valueBeforeSubscription: "traps", .finishBeforeSubscription: "traps", .cancelBeforeUpstream: "cancel"]
  )

  /// Asks for everything at once, and says what came of it when that is known and somebody asks.
  static let reducer = stateful.with(
    "reducer",
    [
      .cancelBeforeUpstream: "sub ask:all",
      .heldAtCancel: "sub ask:all answer:0 cancel",
      .subscription: "sub ask:all",
      .requestOne: "sub ask:all",
      .requestTwice: "sub ask:all",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all",
      .delivery: "sub ask:all answer:0",
      .answer: "sub ask:all answer:0",
      .requestInsideValue: "sub ask:all answer:0",
      .requestInsideSubscription: "sub ask:all",
      .cancelInsideSubscription: "sub cancel answer:0",
      .cancelInsideValue: "sub ask:all answer:0 answer:0 value:$v",
      .cancelInsideEnd: "sub ask:all value:$0 end",
      .sendInsideValue: "sub ask:all answer:0",
      .finishInsideValue: "sub ask:all answer:0",
      .finishInsideEnd: "sub ask:all value:$0 end",
      .finishWithoutDemand: "sub ask:all",
      .failWithoutDemand: "sub ask:all error",
      .finishTwice: "sub ask:all value:$0 end",
      .failTwice: "sub ask:all error",
      .valueAfterEnd: "sub ask:all value:$0 end answer:0",
      .valueAfterFailure: "sub ask:all error answer:0",
      .requestAfterEnd: "sub ask:all error",
      .cancelTwice: "sub ask:all cancel",
      .requestAfterCancel: "sub ask:all cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .secondSubscription: "sub ask:all refused",
      .subscriptionAfterCancel: "sub ask:all cancel refused",
      .subscriptionAfterEnd: "sub ask:all error refused",
      .unaskedValue: "sub ask:all answer:0",
      .valueBeyondDemand: "sub ask:all answer:0 answer:0",
      .skippedValue: "sub ask:all answer:0",
      .ownEnd: "sub ask:all cancel value:$l end answer:0 answer:0",
    ]
  )

  /// Has one value, and gives it to whoever asks.
  static let once = Family(
    name: "source of one value",
    outcomes: [
      .subscription: "sub",
      .requestNone: "traps",
      .requestOne: "sub value:$v end",
      .requestTwice: "sub value:$v end",
      .requestAll: "sub value:$v end",
      .requestNoLess: "sub value:$v end",
      .answer: "sub value:$v end",
      .requestInsideValue: "sub value:$v end",
      .requestInsideSubscription: "sub value:$v end",
      .cancelInsideSubscription: "sub",
      .cancelInsideValue: "sub value:$v",
      .cancelInsideEnd: "sub value:$v end",
      .cancelTwice: "sub",
      .requestAfterCancel: "sub",
    ]
  )

  /// Ends without a value and without being asked.
  static let empty = Family(
    name: "source of nothing",
    outcomes: [
      .subscription: "sub $v",
      .requestNone: "sub $v",
      .requestOne: "sub $v",
      .requestInsideSubscription: "sub $v",
      .cancelInsideSubscription: "sub $v",
      .cancelInsideEnd: "sub $v",
      .cancelTwice: "sub $v",
      .requestAfterCancel: "sub $v",
    ]
  )

  /// Sends what it is told to send to those who have asked for it.
  static let subject = Family(
    name: "subject",
    outcomes: [
      .subscription: "sub",
      .requestNone: "traps",
      .requestOne: "sub",
      .requestTwice: "sub",
      .requestAll: "sub",
      .requestNoLess: "sub",
      .delivery: "sub value:$v",
      .answer: "sub value:$v",
      .requestInsideValue: "sub value:$v",
      .requestInsideSubscription: "sub",
      .cancelInsideSubscription: "sub",
      .cancelInsideValue: "sub value:$v",
      .cancelInsideEnd: "sub end",
      .sendInsideValue: "sub value:$v value:$v",
      .finishInsideValue: "sub value:$v end",
      .finishInsideEnd: "sub end",
      .finishWithoutDemand: "sub end",
      .failWithoutDemand: "sub error",
      .finishTwice: "sub end",
      .failTwice: "sub error",
      .valueAfterEnd: "sub end",
      .valueAfterFailure: "sub error",
      .requestAfterEnd: "sub error",
      .cancelTwice: "sub",
      .requestAfterCancel: "sub",
      .eventsAfterCancel: "sub",
      .unaskedValue: "sub",
      .valueBeyondDemand: "sub value:$v",
    ]
  )

  /// Passes the subscription on, asks for everything on it, and holds all values back.
  static let ignoring = passThrough.with(
    "pass-through that asks for all",
    [
      .valueBeforeSubscription: "answer:0",
      .subscription: "own ask:all",
      .requestNone: "own ask:all ask:0",
      .requestOne: "own ask:all ask:1",
      .requestTwice: "own ask:all ask:2 ask:3",
      .requestAll: "own ask:all ask:all",
      .requestNoLess: "own ask:all ask:all ask:1",
      .delivery: "own ask:all ask:2 answer:0",
      .answer: "own ask:all ask:2 answer:0",
      .requestInsideValue: "own ask:all ask:2 answer:0",
      .requestInsideSubscription: "own ask:2 ask:all",
      .cancelInsideSubscription: "own cancel ask:all answer:0 end",
      .cancelInsideValue: "own ask:all ask:all answer:0 answer:0 end",
      .cancelInsideEnd: "own ask:all ask:all end cancel",
      .sendInsideValue: "own ask:all ask:all answer:0",
      .finishInsideValue: "own ask:all ask:all answer:0",
      .finishInsideEnd: "own ask:all ask:all end end",
      .finishWithoutDemand: "own ask:all end",
      .failWithoutDemand: "own ask:all error",
      .finishTwice: "own ask:all ask:all end end",
      .failTwice: "own ask:all error error",
      .valueAfterEnd: "own ask:all ask:all end answer:0",
      .valueAfterFailure: "own ask:all ask:all error answer:0",
      .requestAfterEnd: "own ask:all error ask:1 cancel",
      .cancelTwice: "own ask:all cancel cancel",
      .requestAfterCancel: "own ask:all cancel ask:1",
      .eventsAfterCancel: "own ask:all ask:all cancel answer:0 end",
      .secondSubscription: "own ask:all own ask:all",
      .subscriptionAfterCancel: "own ask:all cancel own ask:all",
      .subscriptionAfterEnd: "own ask:all error own ask:all",
      .unaskedValue: "own ask:all answer:0",
      .valueBeyondDemand: "own ask:all ask:1 answer:0 answer:0",
    ]
  )

  /// Keeps order among ends and subscriptions, but lets values through at any time, as Apple's does.
  static let lenient = stateful.with(
    "stateful, without a look at the state",
    [
      .cancelBeforeUpstream: "sub",
      .valueBeforeSubscription: "value:$v answer:0",
      .requestNone: "sub ask:0",
      .requestOne: "sub ask:1",
      .requestTwice: "sub ask:2 ask:3",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all ask:1",
      .delivery: "sub ask:2 value:$v answer:0",
      .answer: "sub ask:2 value:$v answer:3",
      .requestInsideValue: "sub ask:2 value:$v ask:1 answer:0",
      .requestInsideSubscription: "sub ask:2",
      .cancelInsideSubscription: "sub cancel value:$v answer:0",
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 value:$v answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all end",
      .finishTwice: "sub ask:all end",
      .valueAfterEnd: "sub ask:all end value:$v answer:0",
      .valueAfterFailure: "sub ask:all error value:$v answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel value:$v answer:0",
      .secondSubscription: "sub refused",
      .subscriptionAfterCancel: "sub cancel refused",
      .subscriptionAfterEnd: "sub error refused",
      .valueBeyondDemand: "sub ask:1 value:$v answer:0 value:$v answer:0",
      .ownEnd: "sub ask:all cancel end answer:0 value:$v answer:0",
    ]
  )

  /// Sees everything, and lets everything through at any time.
  static let watching = stateful.with(
    "watching",
    [
      .cancelBeforeUpstream: "sub",
      .valueBeforeSubscription: "value:$v answer:0",
      .finishBeforeSubscription: "end",
      .requestNone: "sub ask:0",
      .requestOne: "sub ask:1",
      .requestTwice: "sub ask:2 ask:3",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all ask:1",
      .delivery: "sub ask:2 value:$v answer:0",
      .answer: "sub ask:2 value:$v answer:3",
      .requestInsideValue: "sub ask:2 value:$v ask:1 answer:0",
      .requestInsideSubscription: "sub ask:2",
      .cancelInsideSubscription: "sub cancel value:$v answer:0 end",
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 value:$v answer:0 end",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all end end",
      .finishTwice: "sub ask:all end end",
      .failTwice: "sub error error",
      .valueAfterEnd: "sub ask:all end value:$v answer:0",
      .valueAfterFailure: "sub ask:all error value:$v answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel value:$v answer:0 end",
      .secondSubscription: "sub refused",
      .subscriptionAfterCancel: "sub cancel refused",
      .subscriptionAfterEnd: "sub error refused",
      .valueBeyondDemand: "sub ask:1 value:$v answer:0 value:$v answer:0",
    ]
  )

  /// Works as soon as it is attached, and not after its end.
  static let coding = stateful.with(
    "coding",
    [
      .valueBeforeSubscription: "value:$v answer:0",
      .finishBeforeSubscription: "end",
      .requestNone: "sub ask:0",
      .requestOne: "sub ask:1",
      .requestTwice: "sub ask:2 ask:3",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all ask:1",
      .delivery: "sub ask:2 value:$v answer:0",
      .answer: "sub ask:2 value:$v answer:3",
      .requestInsideValue: "sub ask:2 value:$v ask:1 answer:0",
      .requestInsideSubscription: "sub ask:2",
      .cancelInsideSubscription: "sub cancel answer:0",
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all end",
      .finishTwice: "sub ask:all end",
      .valueAfterEnd: "sub ask:all end answer:0",
      .valueAfterFailure: "sub ask:all error answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .secondSubscription: "sub refused",
      .subscriptionAfterCancel: "sub cancel refused",
      .subscriptionAfterEnd: "sub error refused",
      .valueBeyondDemand: "sub ask:1 value:$v answer:0 value:$v answer:0",
    ]
  )

  /// Counts the demand and stops the process when an upstream exceeds it.
  static let counting = stateful.with(
    "counting",
    [
      .cancelBeforeUpstream: "cancel",
      .requestOne: "sub ask:1",
      .requestTwice: "sub ask:2 ask:3",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all ask:1",
      .delivery: "sub ask:2 value:$v answer:0",
      .answer: "sub ask:2 value:$v answer:3",
      .requestInsideValue: "sub ask:2 value:$v ask:1 answer:0",
      .requestInsideSubscription: "sub ask:2",
      .cancelInsideSubscription: "sub cancel answer:0",
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all end",
      .finishTwice: "sub ask:all end",
      .valueAfterEnd: "sub ask:all end answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .secondSubscription: "sub refused",
      .subscriptionAfterCancel: "sub cancel refused",
      .unaskedValue: "traps",
      .valueBeyondDemand: "traps",
    ]
  )

  /// Subscribes to its upstream only after its subscriber has a subscription, and asks it for everything.
  static let eager = stateful.with(
    "eager",
    [
      .valueBeforeSubscription: "sub answer:0",
      .finishBeforeSubscription: "sub end",
      .subscription: "sub ask:all",
      .requestOne: "sub ask:all",
      .requestTwice: "sub ask:all",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all",
      .delivery: "sub ask:all value:$v answer:0",
      .answer: "sub ask:all value:$v answer:0",
      .requestInsideValue: "sub ask:all value:$v answer:0",
      .requestInsideSubscription: "sub ask:all",
      .cancelInsideSubscription: "sub cancel answer:0",
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all end",
      .finishWithoutDemand: "sub ask:all end",
      .failWithoutDemand: "sub ask:all error",
      .finishTwice: "sub ask:all end",
      .failTwice: "sub ask:all error",
      .valueAfterEnd: "sub ask:all end answer:0",
      .valueAfterFailure: "sub ask:all error answer:0",
      .requestAfterEnd: "sub ask:all error",
      .cancelTwice: "sub ask:all cancel",
      .requestAfterCancel: "sub ask:all cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .secondSubscription: "sub ask:all refused",
      .subscriptionAfterCancel: "sub ask:all cancel refused",
      .subscriptionAfterEnd: "sub ask:all error refused",
      .unaskedValue: "sub ask:all answer:0",
      .valueBeyondDemand: "sub ask:all value:$v answer:0 answer:0",
      .requestBeforeUpstream: "sub ask:all",
      .cancelBeforeUpstream: "sub cancel",
    ]
  )

  /// Puts a subject between: the upstream serves the subject, and the subscriber leaves alone.
  static let sharing = stateful.with(
    "sharing",
    [
      .valueBeforeSubscription: "sub answer:0",
      .finishBeforeSubscription: "sub",
      .requestOne: "sub ask:all",
      .requestTwice: "sub ask:all",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all",
      .delivery: "sub ask:all value:$v answer:0",
      .answer: "sub ask:all value:$v answer:0",
      .requestInsideValue: "sub ask:all value:$v answer:0",
      .requestInsideSubscription: "sub ask:all",
      .cancelInsideSubscription: "sub answer:0",
      .cancelInsideValue: "sub ask:all value:$v answer:0 answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all end",
      .finishTwice: "sub ask:all end",
      .valueAfterEnd: "sub ask:all end answer:0",
      .valueAfterFailure: "sub ask:all error answer:0",
      .cancelTwice: "sub",
      .requestAfterCancel: "sub",
      .eventsAfterCancel: "sub ask:all answer:0",
      .secondSubscription: "sub",
      .subscriptionAfterCancel: "sub",
      .subscriptionAfterEnd: "sub error",
      .unaskedValue: "sub answer:0",
      .valueBeyondDemand: "sub ask:all value:$v answer:0 answer:0",
      .requestBeforeUpstream: "sub ask:all",
      .cancelBeforeUpstream: "sub",
    ]
  )

  /// Takes each value to a scheduler and delivers it there.
  static let hop = stateful.with(
    "hop",
    [
      .cancelBeforeUpstream: "sub",
      .valueBeforeSubscription: "answer:0",
      .requestNone: "sub ask:0",
      .requestOne: "sub ask:1",
      .requestTwice: "sub ask:2 ask:3",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all ask:1",
      .delivery: "sub ask:2 answer:0 value:$v",
      .answer: "sub ask:2 answer:0 value:$v ask:3",
      .requestInsideValue: "sub ask:2 answer:0 value:$v ask:1",
      .requestInsideSubscription: "sub ask:2",
      .cancelInsideSubscription: "sub cancel answer:0",
      .cancelInsideValue: "sub ask:all answer:0 value:$v cancel answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all answer:0 value:$v answer:0 value:$v",
      .finishInsideValue: "sub ask:all answer:0 value:$v end",
      .finishInsideEnd: "sub ask:all end",
      .finishTwice: "sub ask:all end",
      .valueAfterEnd: "sub ask:all end answer:0",
      .valueAfterFailure: "sub ask:all error answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .secondSubscription: "sub refused",
      .subscriptionAfterCancel: "sub cancel refused",
      .subscriptionAfterEnd: "sub error refused",
      .unaskedValue: "sub answer:0 value:$v",
      .valueBeyondDemand: "sub ask:1 answer:0 value:$v answer:0 value:$v",
    ]
  )

  /// Asks for everything, and delivers on a scheduler what the subscriber has asked for.
  static let sampling = stateful.with(
    "sampling",
    [
      .cancelBeforeUpstream: "sub ask:all",
      .heldAtCancel: "sub ask:all answer:0 cancel",
      .valueBeforeSubscription: "answer:0",
      .subscription: "sub ask:all",
      .requestNone: "sub ask:all",
      .requestOne: "sub ask:all",
      .requestTwice: "sub ask:all",
      .requestAll: "sub ask:all",
      .requestNoLess: "sub ask:all",
      .delivery: "sub ask:all answer:0 value:$v",
      .answer: "sub ask:all answer:0 value:$v",
      .requestInsideValue: "sub ask:all answer:0 value:$v",
      .requestInsideSubscription: "sub ask:all",
      .cancelInsideSubscription: "sub cancel answer:0",
      .cancelInsideValue: "sub ask:all answer:0 value:$v cancel answer:0",
      .cancelInsideEnd: "sub ask:all end",
      .sendInsideValue: "sub ask:all answer:0 value:$v answer:0 value:$v",
      .finishInsideValue: "sub ask:all answer:0 value:$v end",
      .finishInsideEnd: "sub ask:all end",
      .finishWithoutDemand: "sub ask:all end",
      .failWithoutDemand: "sub ask:all error",
      .finishTwice: "sub ask:all end",
      .failTwice: "sub ask:all error",
      .valueAfterEnd: "sub ask:all end answer:0",
      .valueAfterFailure: "sub ask:all error answer:0",
      .requestAfterEnd: "sub ask:all error",
      .cancelTwice: "sub ask:all cancel",
      .requestAfterCancel: "sub ask:all cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .secondSubscription: "sub ask:all refused",
      .subscriptionAfterCancel: "sub ask:all cancel refused",
      .subscriptionAfterEnd: "sub ask:all error refused",
      .unaskedValue: "sub ask:all answer:0",
      .valueBeyondDemand: "sub ask:all answer:0 value:$v answer:0",
    ]
  )

  /// Passes on what comes from any upstream, keeping one value of each that nobody has asked for.
  static let merge = stateful.with(
    "merge",
    [
      .valueBeforeSubscription: "sub *answer:0",
      .finishBeforeSubscription: "sub",
      .subscription: "sub *ask:1",
      .requestNone: "sub *ask:1",
      .requestTwice: "sub *ask:1",
      .requestAll: "sub *ask:1 *ask:all",
      .requestNoLess: "sub *ask:1 *ask:all",
      .requestInsideSubscription: "sub *ask:1",
      .cancelInsideValue: "sub *ask:1 *ask:all value:$v *cancel *answer:0 *answer:0",
      .cancelInsideEnd: "sub *ask:1 *ask:all end",
      .finishInsideValue: "sub *ask:1 *ask:all value:$v end *answer:0",
      .finishInsideEnd: "sub *ask:1 *ask:all end",
      .finishWithoutDemand: "sub *ask:1 end",
      .failWithoutDemand: "sub *ask:1 1+cancel error",
      .finishTwice: "sub *ask:1 *ask:all end",
      .failTwice: "sub *ask:1 1+cancel error",
      .valueAfterEnd: "sub *ask:1 *ask:all end *answer:0",
      .valueAfterFailure: "sub *ask:1 *ask:all 1+cancel error *answer:0",
      .requestAfterEnd: "sub *ask:1 1+cancel error",
      .cancelTwice: "sub *ask:1 *cancel",
      .requestAfterCancel: "sub *ask:1 *cancel",
      .eventsAfterCancel: "sub *ask:1 *ask:all *cancel *answer:0",
      .secondSubscription: "sub *ask:1 *refused",
      .subscriptionAfterCancel: "sub *ask:1 *cancel *refused",
      .subscriptionAfterEnd: "sub *ask:1 1+cancel error *refused",
      .unaskedValue: "sub *ask:1 *answer:0",
      .delivery: "sub *ask:1 0=value:$v/answer:1 1=value:$v/answer:1 2+answer:0",
      .answer: "sub *ask:1 *value:$v/answer:1",
      .requestInsideValue: "sub *ask:1 0=value:$v/answer:1 1=value:$v/answer:1 2=value:$v/answer:1 3+answer:0",
      .sendInsideValue: "sub *ask:1 *ask:all value:$v *value:$v/answer:0 0=answer:0 1+value:$v/answer:0",
      .valueBeyondDemand: "sub *ask:1 value:$v answer:1 1+answer:0 *answer:0",
      .requestBeforeUpstream: "sub *ask:1",
      .heldAtCancel: "sub *ask:1 *answer:0 *cancel",
      .cancelBeforeUpstream: "sub *cancel",
    ]
  )

  /// Delivers a tuple when each upstream has sent its part.
  static let zip = stateful.with(
    "zip",
    [
      .valueBeforeSubscription: "-answer:0 value:$v ~answer:0",
      .delivery: "sub *ask:2 -answer:0 value:$v ~answer:0",
      .answer: "sub *ask:2 -answer:0 value:$v -ask:3 ~answer:3",
      .requestInsideValue: "sub *ask:2 -answer:0 value:$v -ask:1 ~answer:1",
      .cancelInsideValue: "sub *ask:all -answer:0 value:$v *cancel ~answer:0 *answer:0",
      .cancelInsideEnd: "sub *ask:all 1+cancel end",
      .sendInsideValue: "sub *ask:all -answer:0 value:$v -answer:0 value:$v ~answer:0 ~answer:0",
      .finishInsideValue: "sub *ask:all -answer:0 value:$v 1+cancel end ~answer:0",
      .finishInsideEnd: "sub *ask:all 1+cancel end",
      .finishWithoutDemand: "sub 1+cancel end",
      .failWithoutDemand: "sub 1+cancel error",
      .finishTwice: "sub *ask:all 1+cancel end",
      .failTwice: "sub 1+cancel error",
      .valueAfterEnd: "sub *ask:all 1+cancel end *answer:0",
      .valueAfterFailure: "sub *ask:all 1+cancel error *answer:0",
      .requestAfterEnd: "sub 1+cancel error",
      .subscriptionAfterEnd: "sub 1+cancel error *refused",
      .unaskedValue: "sub -answer:0 value:$v ~answer:0",
      .valueBeyondDemand: "sub *ask:1 -answer:0 value:$v ~answer:0 -answer:0 value:$v ~answer:0",
    ]
  )

  /// Delivers a tuple of the latest values whenever one of them is new and the subscriber has asked.
  static let combineLatest = stateful.with(
    "latest of each",
    [
      .delivery: "sub *ask:2 -answer:0 value:$v ~answer:0",
      .answer: "sub *ask:2 -answer:0 value:$v ~answer:3",
      .requestInsideValue: "sub *ask:2 -answer:0 value:$v *ask:1 ~answer:0",
      .cancelInsideValue: "sub *ask:all -answer:0 value:$v *cancel ~answer:0 *answer:0",
      .sendInsideValue: "sub *ask:all -answer:0 value:$v *answer:0 ~answer:0",
      .finishInsideValue: "sub *ask:all -answer:0 value:$v end ~answer:0",
      .failWithoutDemand: "sub 1+cancel error",
      .failTwice: "sub 1+cancel error",
      .valueAfterFailure: "sub *ask:all 1+cancel error *answer:0",
      .requestAfterEnd: "sub 1+cancel error",
      .subscriptionAfterEnd: "sub 1+cancel error *refused",
      .unaskedValue: "sub *answer:0",
      .valueBeyondDemand: "sub *ask:1 -answer:0 value:$v ~answer:0 *answer:0",
    ]
  )

  /// Gives the present value to whoever asks for the first time.
  static let current = subject.with(
    "subject with a current value",
    [
      .requestOne: "sub value:0",
      .requestTwice: "sub value:0",
      .requestAll: "sub value:0",
      .requestNoLess: "sub value:0",
      .delivery: "sub value:0 value:$v",
      .answer: "sub value:0 value:$v",
      .requestInsideValue: "sub value:0 value:$v",
      .requestInsideSubscription: "sub value:0",
      .cancelInsideValue: "sub value:0",
      .cancelInsideEnd: "sub value:0 end",
      .sendInsideValue: "sub value:0 value:$v value:$v",
      .finishInsideValue: "sub value:0 end",
      .finishInsideEnd: "sub value:0 end",
      .finishTwice: "sub value:0 end",
      .valueAfterEnd: "sub value:0 end",
      .valueAfterFailure: "sub value:0 error",
      .eventsAfterCancel: "sub value:0",
      .valueBeyondDemand: "sub value:0",
    ]
  )

  /// Sends what it is told to send, and never ends.
  static let endless = subject.with(
    "endless source",
    [
      .requestNone: "sub",
      .cancelInsideEnd: "sub",
      .finishInsideValue: "sub value:$v",
      .finishInsideEnd: "sub",
      .finishWithoutDemand: "sub",
      .failWithoutDemand: "sub",
      .finishTwice: "sub",
      .failTwice: "sub",
      .valueAfterEnd: "sub value:$v",
      .valueAfterFailure: "sub value:$v",
      .requestAfterEnd: "sub",
    ]
  )

  /// Takes everything, from one subscription, until the first end.
  static let sink = Family(
    name: "subscriber",
    outcomes: [
      .valueBeforeSubscription: "value:$v answer:0",
      .finishBeforeSubscription: "end",
      .subscription: "ask:all",
      .cancelBeforeUpstream: "ask:all",
      .cancelInsideValue: "ask:all value:$v cancel answer:0 answer:0",
      .cancelInsideEnd: "ask:all end",
      .finishInsideValue: "ask:all value:$v end answer:0",
      .sendInsideValue: "ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideEnd: "ask:all end",
      .finishWithoutDemand: "ask:all end",
      .failWithoutDemand: "ask:all error",
      .finishTwice: "ask:all end",
      .failTwice: "ask:all error",
      .valueAfterEnd: "ask:all end answer:0",
      .valueAfterFailure: "ask:all error answer:0",
      .requestAfterEnd: "ask:all error",
      .cancelTwice: "ask:all cancel",
      .eventsAfterCancel: "ask:all cancel answer:0",
      .secondSubscription: "ask:all refused",
      .subscriptionAfterCancel: "ask:all cancel refused",
      .subscriptionAfterEnd: "ask:all error refused",
      .unaskedValue: "ask:all value:$v answer:0",
    ]
  )
}
