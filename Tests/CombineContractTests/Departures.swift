/// Where a publisher does not do as its family does, and why.
struct Departure {
  let why: String
  let outcomes: [Law: String]
}

/// By the registrations' names.
let departures: [String: Departure] = [
  "first": Departure(
    why: "Decides at the first value, asked or not, and tells it upon the first request.",
    outcomes: [
      .heldAtCancel: "sub ask:all cancel answer:0",
      .delivery: "sub ask:all cancel value:$v end answer:0",
      .answer: "sub ask:all cancel value:$v end answer:0",
      .requestInsideValue: "sub ask:all cancel value:$v end answer:0",
      .cancelInsideValue: "sub ask:all cancel value:$v answer:0 answer:0",
      .sendInsideValue: "sub ask:all cancel value:$v answer:0 end answer:0",
      .finishInsideValue: "sub ask:all cancel value:$v end answer:0",
      .unaskedValue: "sub ask:all cancel answer:0",
      .valueBeyondDemand: "sub ask:all cancel value:$v end answer:0 answer:0",
    ]
  ),
  "first(where:)": Departure(
    why: "Nothing has fitted: only the end comes.",
    outcomes: [
      .cancelInsideValue: "sub ask:all answer:0 answer:0 end"
    ]
  ),
  "tryFirst": Departure(
    why: "Nothing has fitted: only the end comes.",
    outcomes: [
      .cancelInsideValue: "sub ask:all answer:0 answer:0 end"
    ]
  ),
  "dropFirst": Departure(
    why:
      "Asks for what it is about to drop in advance, and counts on after an end: ends pass. After an end or a cancel a new upstream is welcome.",
    outcomes: [
      .valueBeforeSubscription: "sub answer:0",
      .finishBeforeSubscription: "sub end",
      .subscription: "sub ask:1",
      .requestBeforeUpstream: "sub ask:3",
      .cancelBeforeUpstream: "sub ask:1",
      .requestOne: "sub ask:1 ask:1",
      .requestTwice: "sub ask:1 ask:2 ask:3",
      .requestAll: "sub ask:1 ask:all",
      .requestNoLess: "sub ask:1 ask:all ask:1",
      .delivery: "sub ask:1 ask:2 answer:0",
      .answer: "sub ask:1 ask:2 answer:0",
      .requestInsideValue: "sub ask:1 ask:2 answer:0",
      .requestInsideSubscription: "sub ask:3",
      .cancelInsideSubscription: "sub ask:1 answer:0 end",
      .cancelInsideValue: "sub ask:1 ask:all answer:0 value:$v cancel answer:0 end",
      .cancelInsideEnd: "sub ask:1 ask:all end",
      .sendInsideValue: "sub ask:1 ask:all answer:0",
      .finishInsideValue: "sub ask:1 ask:all answer:0",
      .finishInsideEnd: "sub ask:1 ask:all end end",
      .finishWithoutDemand: "sub ask:1 end",
      .failWithoutDemand: "sub ask:1 error",
      .finishTwice: "sub ask:1 ask:all end end",
      .failTwice: "sub ask:1 error error",
      .valueAfterEnd: "sub ask:1 ask:all end answer:0",
      .valueAfterFailure: "sub ask:1 ask:all error answer:0",
      .requestAfterEnd: "sub ask:1 error",
      .cancelTwice: "sub ask:1 cancel",
      .requestAfterCancel: "sub ask:1 cancel",
      .eventsAfterCancel: "sub ask:1 ask:all cancel answer:0 end",
      .secondSubscription: "sub ask:1 refused",
      .subscriptionAfterCancel: "sub ask:1 cancel ask:1",
      .subscriptionAfterEnd: "sub ask:1 error ask:1",
      .unaskedValue: "sub ask:1 answer:0",
      .valueBeyondDemand: "sub ask:1 ask:1 answer:0 value:$v answer:0",
    ]
  ),
  "drop(untilOutputFrom:)": Departure(
    why: "Asks the trigger for one value; while it drops, a value costs demand and is not replaced.",
    outcomes: [
      .valueBeforeSubscription: "sub *answer:0",
      .finishBeforeSubscription: "sub",
      .subscription: "sub 1+ask:1",
      .requestBeforeUpstream: "sub -ask:2 1+ask:1",
      .cancelBeforeUpstream: "sub *cancel",
      .requestNone: "sub 1+ask:1",
      .requestOne: "sub 1+ask:1 -ask:1",
      .requestTwice: "sub 1+ask:1 -ask:2 -ask:3",
      .requestAll: "sub 1+ask:1 -ask:all",
      .requestNoLess: "sub 1+ask:1 -ask:all -ask:1",
      .delivery: "sub 1+ask:1 -ask:2 -answer:0 1+cancel 1+answer:0",
      .answer: "sub 1+ask:1 -ask:2 -answer:0 1+cancel 1+answer:0",
      .requestInsideValue: "sub 1+ask:1 -ask:2 -answer:0 1+cancel 1+answer:0",
      .requestInsideSubscription: "sub -ask:2 1+ask:1",
      .cancelInsideValue: "sub 1+ask:1 -ask:all -answer:0 1+cancel 1+answer:0 value:$v -cancel *answer:0",
      .cancelInsideEnd: "sub 1+ask:1 -ask:all 1+cancel end",
      .sendInsideValue: "sub 1+ask:1 -ask:all -answer:0 1+cancel 1+answer:0",
      .finishInsideValue: "sub 1+ask:1 -ask:all -answer:0 1+cancel 1+answer:0",
      .finishInsideEnd: "sub 1+ask:1 -ask:all 1+cancel end",
      .finishWithoutDemand: "sub 1+ask:1 1+cancel end",
      .failWithoutDemand: "sub 1+ask:1 1+cancel error",
      .finishTwice: "sub 1+ask:1 -ask:all 1+cancel end",
      .failTwice: "sub 1+ask:1 1+cancel error",
      .valueAfterEnd: "sub 1+ask:1 -ask:all 1+cancel end *answer:0",
      .valueAfterFailure: "sub 1+ask:1 -ask:all 1+cancel error *answer:0",
      .requestAfterEnd: "sub 1+ask:1 1+cancel error",
      .cancelTwice: "sub 1+ask:1 *cancel",
      .requestAfterCancel: "sub 1+ask:1 *cancel",
      .eventsAfterCancel: "sub 1+ask:1 -ask:all *cancel *answer:0",
      .secondSubscription: "sub 1+ask:1 *refused",
      .subscriptionAfterCancel: "sub 1+ask:1 *cancel *refused",
      .subscriptionAfterEnd: "sub 1+ask:1 1+cancel error *refused",
      .unaskedValue: "traps",
      .valueBeyondDemand: "sub 1+ask:1 -ask:1 -answer:0 1+cancel 1+answer:0 value:$v *answer:0",
    ]
  ),
  "prefix(untilOutputFrom:)": Departure(
    why: "Asks the terminator for one value and ends with it; each upstream's end cancels the other.",
    outcomes: [
      .cancelBeforeUpstream: "*cancel",
      .subscription: "sub 1+ask:1",
      .requestNone: "sub 1+ask:1 -ask:0",
      .requestOne: "sub 1+ask:1 -ask:1",
      .requestTwice: "sub 1+ask:1 -ask:2 -ask:3",
      .requestAll: "sub 1+ask:1 -ask:all",
      .requestNoLess: "sub 1+ask:1 -ask:all -ask:1",
      .delivery: "sub 1+ask:1 -ask:2 value:$v -answer:0 1+cancel -cancel end 1+answer:0",
      .answer: "sub 1+ask:1 -ask:2 value:$v -answer:3 1+cancel -cancel end 1+answer:0",
      .requestInsideValue: "sub 1+ask:1 -ask:2 value:$v -ask:1 -answer:0 1+cancel -cancel end 1+answer:0",
      .requestInsideSubscription: "sub -ask:2 1+ask:1",
      .cancelInsideValue: "sub 1+ask:1 -ask:all value:$v *cancel *answer:0 *answer:0",
      .cancelInsideEnd: "sub 1+ask:1 -ask:all 1+cancel end",
      .sendInsideValue: "sub 1+ask:1 -ask:all value:$v value:$v -answer:0 1+cancel -cancel end 1+answer:0 *answer:0",
      .finishInsideValue: "sub 1+ask:1 -ask:all value:$v 1+cancel end *answer:0",
      .finishInsideEnd: "sub 1+ask:1 -ask:all 1+cancel end",
      .finishWithoutDemand: "sub 1+ask:1 1+cancel end",
      .failWithoutDemand: "sub 1+ask:1 1+cancel error",
      .finishTwice: "sub 1+ask:1 -ask:all 1+cancel end",
      .failTwice: "sub 1+ask:1 1+cancel error",
      .valueAfterEnd: "sub 1+ask:1 -ask:all 1+cancel end *answer:0",
      .valueAfterFailure: "sub 1+ask:1 -ask:all 1+cancel error *answer:0",
      .requestAfterEnd: "sub 1+ask:1 1+cancel error",
      .cancelTwice: "sub 1+ask:1 *cancel",
      .requestAfterCancel: "sub 1+ask:1 *cancel",
      .eventsAfterCancel: "sub 1+ask:1 -ask:all *cancel *answer:0",
      .secondSubscription: "sub 1+ask:1 *refused",
      .subscriptionAfterCancel: "sub 1+ask:1 *cancel *refused",
      .subscriptionAfterEnd: "sub 1+ask:1 1+cancel error *refused",
      .unaskedValue: "sub 1+ask:1 value:$v -answer:0 1+cancel -cancel end 1+answer:0",
      .valueBeyondDemand: "sub 1+ask:1 -ask:1 value:$v -answer:0 1+cancel -cancel end 1+answer:0 *answer:0",
    ]
  ),
  "replaceEmpty": Departure(
    why: "Passes on what is asked, and asks for everything besides; a replacement waits for demand.",
    outcomes: [
      .cancelBeforeUpstream: "sub ask:all",
      .subscription: "sub ask:all",
      .requestOne: "sub ask:all ask:1",
      .requestTwice: "sub ask:all ask:2 ask:3",
      .requestAll: "sub ask:all ask:all",
      .requestNoLess: "sub ask:all ask:all ask:1",
      .delivery: "sub ask:all ask:2 value:$v answer:0",
      .answer: "sub ask:all ask:2 value:$v answer:3",
      .requestInsideValue: "sub ask:all ask:2 value:$v ask:1 answer:0",
      .requestInsideSubscription: "sub ask:2 ask:all",
      .cancelInsideValue: "sub ask:all ask:all value:$v cancel answer:0 answer:0",
      .cancelInsideEnd: "sub ask:all ask:all value:9 end",
      .sendInsideValue: "sub ask:all ask:all value:$v value:$v answer:0 answer:0",
      .finishInsideValue: "sub ask:all ask:all value:$v end answer:0",
      .finishInsideEnd: "sub ask:all ask:all value:9 end",
      .finishWithoutDemand: "sub ask:all",
      .failWithoutDemand: "sub ask:all error",
      .finishTwice: "sub ask:all ask:all value:9 end",
      .failTwice: "sub ask:all error",
      .valueAfterEnd: "sub ask:all ask:all value:9 end answer:0",
      .valueAfterFailure: "sub ask:all ask:all error answer:0",
      .requestAfterEnd: "sub ask:all error",
      .cancelTwice: "sub ask:all cancel",
      .requestAfterCancel: "sub ask:all cancel",
      .eventsAfterCancel: "sub ask:all ask:all cancel answer:0",
      .secondSubscription: "sub ask:all refused",
      .subscriptionAfterCancel: "sub ask:all cancel refused",
      .subscriptionAfterEnd: "sub ask:all error refused",
      .unaskedValue: "sub ask:all value:$v answer:0",
      .valueBeyondDemand: "sub ask:all ask:1 value:$v answer:0 value:$v answer:0",
    ]
  ),
  "collect(1)": Departure(
    why: "Ends pass at any time.",
    outcomes: [
      .finishBeforeSubscription: "end",
      .cancelInsideSubscription: "sub cancel answer:0 end",
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 answer:0 end",
      .finishInsideEnd: "sub ask:all end end",
      .finishTwice: "sub ask:all end end",
      .failTwice: "sub error error",
      .eventsAfterCancel: "sub ask:all cancel answer:0 end",
    ]
  ),
  "collect(2)": Departure(
    why: "Ends pass at any time, and what is held at a cancel does not.",
    outcomes: [
      .heldAtCancel: "sub answer:0 cancel end"
    ]
  ),
  "buffer": Departure(
    why: "Asks for as much as fits before it is a subscription itself, then one for one; the finish waits for demand.",
    outcomes: [
      .cancelBeforeUpstream: "ask:4 sub",
      .heldAtCancel: "ask:4 sub answer:0 cancel",
      .subscription: "ask:4 sub",
      .requestNone: "ask:4 sub",
      .requestOne: "ask:4 sub",
      .requestTwice: "ask:4 sub",
      .requestAll: "ask:4 sub",
      .requestNoLess: "ask:4 sub",
      .delivery: "ask:4 sub value:$v answer:1",
      .answer: "ask:4 sub value:$v answer:1",
      .requestInsideValue: "ask:4 sub value:$v answer:1",
      .requestInsideSubscription: "ask:4 sub",
      .cancelInsideSubscription: "ask:4 sub cancel answer:0",
      .cancelInsideValue: "ask:4 sub value:$v cancel answer:0 answer:0",
      .cancelInsideEnd: "ask:4 sub end",
      .sendInsideValue: "ask:4 sub value:$v answer:0 value:$v answer:2",
      .finishInsideValue: "ask:4 sub value:$v end answer:0",
      .finishInsideEnd: "ask:4 sub end",
      .finishWithoutDemand: "ask:4 sub",
      .failWithoutDemand: "ask:4 sub error",
      .finishTwice: "ask:4 sub end",
      .failTwice: "ask:4 sub error",
      .valueAfterEnd: "ask:4 sub end answer:0",
      .valueAfterFailure: "ask:4 sub error answer:0",
      .requestAfterEnd: "ask:4 sub error",
      .cancelTwice: "ask:4 sub cancel",
      .requestAfterCancel: "ask:4 sub cancel",
      .eventsAfterCancel: "ask:4 sub cancel answer:0",
      .secondSubscription: "ask:4 sub refused",
      .subscriptionAfterCancel: "ask:4 sub cancel refused",
      .subscriptionAfterEnd: "ask:4 sub error refused",
      .unaskedValue: "ask:4 sub answer:0",
      .valueBeyondDemand: "ask:4 sub value:$v answer:1 answer:0",
    ]
  ),
  "catch": Departure(
    why: "A failure is handled: the handler's publisher goes on with the demand that is left.",
    outcomes: [
      .valueBeforeSubscription: "traps",
      .failWithoutDemand: "sub",
      .failTwice: "traps",
      .valueAfterFailure: "sub ask:all value:9 end answer:0",
      .requestAfterEnd: "sub value:9 end",
      .subscriptionAfterEnd: "sub refused",
    ]
  ),
  "tryCatch": Departure(
    why: "A failure is handled: the handler's publisher goes on with the demand that is left.",
    outcomes: [
      .valueBeforeSubscription: "traps",
      .failWithoutDemand: "sub",
      .failTwice: "traps",
      .valueAfterFailure: "sub ask:all value:9 end answer:0",
      .requestAfterEnd: "sub value:9 end",
      .subscriptionAfterEnd: "sub refused",
    ]
  ),
  "retry": Departure(
    why: "What a value is answered with goes upstream as a request.",
    outcomes: [
      .finishBeforeSubscription: "end",
      .requestNone: "sub ask:0",
      .answer: "sub ask:2 value:$v ask:3 answer:0",
    ]
  ),
  "replaceError": Departure(
    why: "The replacement waits for demand.",
    outcomes: [
      .cancelBeforeUpstream: "sub",
      .failWithoutDemand: "sub",
      .failTwice: "sub",
      .valueAfterFailure: "sub ask:all value:9 end answer:0",
      .requestAfterEnd: "sub value:9 end",
      .subscriptionAfterEnd: "sub refused",
    ]
  ),
  "share": Departure(
    why: "The last to leave cancels the upstream.",
    outcomes: [
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .subscriptionAfterCancel: "sub cancel refused",
      .cancelBeforeUpstream: "sub cancel",
      .cancelInsideSubscription: "sub cancel answer:0",
    ]
  ),
  "autoconnect": Departure(
    why: "The last to leave cancels the upstream.",
    outcomes: [
      .cancelInsideValue: "sub ask:all value:$v cancel answer:0 answer:0",
      .cancelTwice: "sub cancel",
      .requestAfterCancel: "sub cancel",
      .eventsAfterCancel: "sub ask:all cancel answer:0",
      .subscriptionAfterCancel: "sub cancel refused",
      .cancelBeforeUpstream: "sub cancel",
      .cancelInsideSubscription: "sub cancel answer:0",
    ]
  ),
  "subscribe(on:)": Departure(
    why: "Requests and cancels go through the scheduler.",
    outcomes: [
      .requestNone: "sub ask:0",
      .requestInsideValue: "sub ask:2 value:$v answer:0 ask:1",
      .cancelInsideValue: "sub ask:all value:$v answer:0 cancel answer:0",
    ]
  ),
  "throttle": Departure(
    why: "Asks the upstream before it is a subscription itself.",
    outcomes: [
      .cancelBeforeUpstream: "cancel",
      .heldAtCancel: "ask:all sub answer:0 cancel",
      .subscription: "ask:all sub",
      .requestNone: "ask:all sub",
      .requestOne: "ask:all sub",
      .requestTwice: "ask:all sub",
      .requestAll: "ask:all sub",
      .requestNoLess: "ask:all sub",
      .delivery: "ask:all sub answer:0 value:$v",
      .answer: "ask:all sub answer:0 value:$v",
      .requestInsideValue: "ask:all sub answer:0 value:$v",
      .requestInsideSubscription: "ask:all sub",
      .cancelInsideSubscription: "ask:all sub cancel answer:0",
      .cancelInsideValue: "ask:all sub answer:0 value:$v cancel answer:0",
      .cancelInsideEnd: "ask:all sub end",
      .sendInsideValue: "ask:all sub answer:0 value:$v answer:0 value:$v",
      .finishInsideValue: "ask:all sub answer:0 value:$v end",
      .finishInsideEnd: "ask:all sub end",
      .finishWithoutDemand: "ask:all sub end",
      .failWithoutDemand: "ask:all sub error",
      .finishTwice: "ask:all sub end",
      .failTwice: "ask:all sub error",
      .valueAfterEnd: "ask:all sub end answer:0",
      .valueAfterFailure: "ask:all sub error answer:0",
      .requestAfterEnd: "ask:all sub error",
      .cancelTwice: "ask:all sub cancel",
      .requestAfterCancel: "ask:all sub cancel",
      .eventsAfterCancel: "ask:all sub cancel answer:0",
      .secondSubscription: "ask:all sub refused",
      .subscriptionAfterCancel: "ask:all sub cancel refused",
      .subscriptionAfterEnd: "ask:all sub error refused",
      .unaskedValue: "ask:all sub answer:0",
      .valueBeyondDemand: "ask:all sub answer:0 value:$v answer:0",
    ]
  ),
  "measureInterval": Departure(
    why: "The values are the seconds since the one before; what a value is answered with goes upstream as a request.",
    outcomes: [
      .requestNone: "sub ask:0",
      .answer: "sub ask:2 value:$v ask:3 answer:0",
      .sendInsideValue: "sub ask:all value:$v value:0.0s answer:0 answer:0",
      .unaskedValue: "sub value:1.0s answer:0",
      .valueBeyondDemand: "sub ask:1 value:$v answer:0 value:1.0s answer:0",
    ]
  ),
  "collect(byTime)": Departure(
    why: "Asks for one value at a time, however much is asked; groups come with the clock.",
    outcomes: [
      .heldAtCancel: "sub answer:1 cancel",
      .requestNone: "sub",
      .requestTwice: "sub ask:1 ask:1",
      .requestAll: "sub ask:1",
      .requestNoLess: "sub ask:1 ask:1",
      .delivery: "sub ask:1 answer:1 value:$v",
      .answer: "sub ask:1 answer:1 value:$v",
      .requestInsideValue: "sub ask:1 answer:1 value:$v ask:1",
      .requestInsideSubscription: "sub ask:1",
      .cancelInsideValue: "sub ask:1 answer:1 value:$v cancel answer:0",
      .cancelInsideEnd: "sub ask:1 end",
      .sendInsideValue: "sub ask:1 answer:1 value:$v answer:1 value:$v",
      .finishInsideValue: "sub ask:1 answer:1 value:$v end",
      .finishInsideEnd: "sub ask:1 end",
      .finishTwice: "sub ask:1 end",
      .valueAfterEnd: "sub ask:1 end answer:0",
      .valueAfterFailure: "sub ask:1 error answer:0",
      .eventsAfterCancel: "sub ask:1 cancel answer:0",
      .unaskedValue: "sub answer:1",
      .valueBeyondDemand: "sub ask:1 answer:1 value:$v answer:1",
    ]
  ),
  "append": Departure(
    why: "Counts the demand and drops what exceeds it.",
    outcomes: [
      .requestNone: "sub ask:0",
      .unaskedValue: "sub answer:0",
      .valueBeyondDemand: "sub ask:1 value:$v answer:0 answer:0",
    ]
  ),
  "Sequence": Departure(
    why: "A request for nothing is fine.",
    outcomes: [
      .requestNone: "sub"
    ]
  ),
  "Record": Departure(
    why: "A request for nothing is fine.",
    outcomes: [
      .requestNone: "sub"
    ]
  ),
  "Published": Departure(
    why: "Never ends.",
    outcomes: [
      .cancelInsideEnd: "sub value:0",
      .finishInsideValue: "sub value:0 value:$v",
      .finishInsideEnd: "sub value:0",
      .finishWithoutDemand: "sub",
      .failWithoutDemand: "sub",
      .finishTwice: "sub value:0",
      .failTwice: "sub",
      .valueAfterEnd: "sub value:0 value:$v",
      .valueAfterFailure: "sub value:0 value:$v",
      .requestAfterEnd: "sub value:0",
    ]
  ),
  "ObservableObjectPublisher": Departure(
    why: "Does not count.",
    outcomes: [
      .valueBeyondDemand: "sub value:$v value:$v"
    ]
  ),
  "Timer.publish": Departure(
    why: "Sends when its run loop runs, which it does not here.",
    outcomes: [
      .delivery: "sub",
      .answer: "sub",
      .requestInsideValue: "sub",
      .cancelInsideValue: "sub",
      .sendInsideValue: "sub",
      .finishInsideValue: "sub",
      .valueAfterEnd: "sub",
      .valueAfterFailure: "sub",
      .valueBeyondDemand: "sub",
    ]
  ),
  "Assign": Departure(
    why: "Assigns from the subscription on; nobody is told of the end.",
    outcomes: [
      .valueBeforeSubscription: "answer:0",
      .finishBeforeSubscription: "",
      .cancelInsideEnd: "ask:all",
      .finishInsideValue: "ask:all value:$v answer:0",
      .finishInsideEnd: "ask:all",
      .finishWithoutDemand: "ask:all",
      .finishTwice: "ask:all",
      .valueAfterEnd: "ask:all answer:0",
    ]
  ),
  "subject": Departure(
    why: "Takes nothing before the subscription, and leaves further ones alone.",
    outcomes: [
      .valueBeforeSubscription: "answer:0",
      .finishBeforeSubscription: "",
      .secondSubscription: "ask:all",
      .subscriptionAfterEnd: "ask:all error",
    ]
  ),
  "AnySubscriber": Departure(
    why: "Passes everything on as it comes.",
    outcomes: [
      .finishInsideEnd: "ask:all end end",
      .finishTwice: "ask:all end end",
      .failTwice: "ask:all error error",
      .valueAfterEnd: "ask:all end value:$v answer:0",
      .valueAfterFailure: "ask:all error value:$v answer:0",
      .secondSubscription: "ask:all ask:all",
      .subscriptionAfterEnd: "ask:all error ask:all",
    ]
  ),
]
