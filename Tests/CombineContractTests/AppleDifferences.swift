/// A law whose outcome is not, or is not believed to be, what Apple's Combine does, on purpose.
struct AppleDifference {
  let name: String
  let law: Law
  /// What happens there, in the words of ``Family``.
  let apple: String
  let why: String
}

let appleDifferences: [AppleDifference] = [
  AppleDifference(
    name: "drop(untilOutputFrom:)",
    law: .finishWithoutDemand,
    apple: "sub 1+ask:1 end",
    why: "Nobody is left whom the trigger could serve; it would run on for nothing."
  ),
  AppleDifference(
    name: "drop(untilOutputFrom:)",
    law: .delivery,
    apple: "sub 1+ask:1 -ask:2 *answer:0",
    why: "A trigger that has fired has no more to say; left alone, it would keep what is in front of it for good."
  ),
  AppleDifference(
    name: "prefix(untilOutputFrom:)",
    law: .delivery,
    apple: "sub 1+ask:1 -ask:2 value:$v -answer:0 -cancel end 1+answer:0",
    why: "A trigger that has fired has no more to say; left alone, it would keep what is in front of it for good."
  ),
  AppleDifference(
    name: "merge",
    law: .failWithoutDemand,
    apple: "sub *ask:1 *cancel error",
    why: "An upstream that has failed is over; cancelling it says nothing."
  ),
  AppleDifference(
    name: "zip",
    law: .failWithoutDemand,
    apple: "sub *cancel error",
    why: "An upstream that has failed is over; cancelling it says nothing."
  ),
  AppleDifference(
    name: "retry",
    law: .valueBeforeSubscription,
    apple: "traps",
    why: "An upstream's fault need not be the program's end."
  ),
  AppleDifference(
    name: "drop(untilOutputFrom:)",
    law: .valueBeforeSubscription,
    apple: "traps",
    why: "An upstream's fault need not be the program's end."
  ),
  AppleDifference(
    name: "share",
    law: .cancelBeforeUpstream,
    apple: "sub",
    why: "A subscription that comes after the cancel would hold the upstream for nobody."
  ),
  AppleDifference(
    name: "share",
    law: .cancelInsideSubscription,
    apple: "sub answer:0",
    why: "Who leaves while the connection is being made counts as having left."
  ),
  AppleDifference(
    name: "share",
    law: .subscriptionAfterCancel,
    apple: "sub cancel",
    why: "A subscription that comes after the cancel would hold the upstream for nobody."
  ),
  AppleDifference(
    name: "collect(byTime)",
    law: .requestNone,
    apple: "sub ask:1",
    why: "Who asks for nothing gets nothing asked for."
  ),
]
