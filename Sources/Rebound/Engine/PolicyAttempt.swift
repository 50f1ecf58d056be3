import Combine

/// The subscriber of one attempt.
///
/// Each attempt has its own, so that whatever a superseded one still sends is known. It knows nothing of the types that
/// stand around the execution, so that the type of several policies, one inside the other, grows by one with each.
@usableFromInline
package struct PolicyAttempt<Input, Failure: Error>: Subscriber, CustomStringConvertible {
  @usableFromInline package let number: Int
  @usableFromInline package let execution: PolicyExecution<Input, Failure>

  @inlinable
  package init(_ number: Int, of execution: PolicyExecution<Input, Failure>) {
    self.number = number
    self.execution = execution
  }

  @usableFromInline package var combineIdentifier: CombineIdentifier { CombineIdentifier(execution) }
  @usableFromInline package var description: String { execution.description }

  @inlinable
  package func receive(subscription: any Subscription) {
    execution.receivesSubscription(execution, subscription, number)
  }

  @inlinable
  package func receive(_ input: Input) -> Subscribers.Demand { execution.receivesValue(execution, input, number) }

  @inlinable
  package func receive(completion: Subscribers.Completion<Failure>) {
    execution.receivesEnd(execution, completion, number)
  }
}

/// An execution as its attempts know it.
///
/// Swift does not specialise the methods of a generic class that are called through its table, so the ways in are closures
/// that capture nothing, made where all types are known.
@usableFromInline
package class PolicyExecution<Input, Failure: Error>: CustomStringConvertible {
  @usableFromInline package typealias End = Subscribers.Completion<Failure>

  @usableFromInline let receivesSubscription: (PolicyExecution, any Subscription, Int) -> Void
  @usableFromInline let receivesValue: (PolicyExecution, Input, Int) -> Subscribers.Demand
  @usableFromInline let receivesEnd: (PolicyExecution, End, Int) -> Void
  /// For timers and wakers, which know as little.
  @usableFromInline let notices: (PolicyExecution, PendingEvents) -> Void

  @inlinable
  init(
    receivesSubscription: @escaping (PolicyExecution, any Subscription, Int) -> Void,
    receivesValue: @escaping (PolicyExecution, Input, Int) -> Subscribers.Demand,
    receivesEnd: @escaping (PolicyExecution, End, Int) -> Void,
    notices: @escaping (PolicyExecution, PendingEvents) -> Void
  ) {
    self.receivesSubscription = receivesSubscription
    self.receivesValue = receivesValue
    self.receivesEnd = receivesEnd
    self.notices = notices
  }

  @usableFromInline package var description: String { "Policy" }
}
