import Combine
import Rebound

/// A subscriber of answers whose type is hidden: the attempt of a policy as it is, so that nothing has to be made for it.
///
/// In the place of Combine's own, which makes an object of each subscription that is not of that module.
@usableFromInline
struct AnswerSubscriber: Subscriber, CustomStringConvertible {
  @usableFromInline typealias Input = HTTPResponse
  @usableFromInline typealias Failure = NetworkFailure
  @usableFromInline typealias Attempt = PolicyAttempt<HTTPResponse, NetworkFailure>

  // In place of an enum of two, each copy of which would ask which it is: one reference and a number.
  private let object: AnyObject
  /// That of the attempt, from 1; 0 for any other subscriber.
  private let number: Int

  /// An attempt of a policy.
  @usableFromInline
  init(_ attempt: Attempt) { (object, number) = (attempt.execution, attempt.number) }

  /// Any other.
  @usableFromInline
  init(_ other: ErasedAnswerSubscriber) { (object, number) = (other, 0) }

  @inlinable
  init<S: Subscriber>(hiding subscriber: S) where S.Input == Input, S.Failure == Failure {
    // Where the type of the subscriber is known, so is the outcome.
    if let attempt = subscriber as? Attempt {
      self.init(attempt)
    } else {
      self.init(TypedAnswerSubscriber(subscriber))
    }
  }

  private var attempt: Attempt {
    // Where there is a number, the object was taken from an attempt.
    Attempt(number, of: unsafeDowncast(object, to: PolicyExecution.self))
  }
  private var other: ErasedAnswerSubscriber {
    // Where there is none, it is one of these.
    unsafeDowncast(object, to: ErasedAnswerSubscriber.self)
  }

  @usableFromInline var description: String { number > 0 ? attempt.description : other.description }
  @usableFromInline var combineIdentifier: CombineIdentifier { CombineIdentifier(object) }

  @usableFromInline
  func receive(subscription: any Subscription) {
    if number > 0 {
      attempt.receive(subscription: subscription)
    } else {
      other.receivesSubscription(other, subscription)
    }
  }

  @usableFromInline
  func receive(_ answer: HTTPResponse) -> Subscribers.Demand {
    number > 0 ? attempt.receive(answer) : other.receivesAnswer(other, answer)
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<NetworkFailure>) {
    if number > 0 { attempt.receive(completion: completion) } else { other.receivesEnd(other, completion) }
  }
}

/// A subscriber of answers that is no attempt of a policy.
///
/// Its ways in are closures that capture nothing, made where the type is known, since Swift does not specialise the methods of a
/// generic class.
@usableFromInline
class ErasedAnswerSubscriber: CustomStringConvertible {
  fileprivate let receivesSubscription: (ErasedAnswerSubscriber, any Subscription) -> Void
  fileprivate let receivesAnswer: (ErasedAnswerSubscriber, HTTPResponse) -> Subscribers.Demand
  fileprivate let receivesEnd: (ErasedAnswerSubscriber, Subscribers.Completion<NetworkFailure>) -> Void

  @usableFromInline
  init(
    receivesSubscription: @escaping (ErasedAnswerSubscriber, any Subscription) -> Void,
    receivesAnswer: @escaping (ErasedAnswerSubscriber, HTTPResponse) -> Subscribers.Demand,
    receivesEnd: @escaping (ErasedAnswerSubscriber, Subscribers.Completion<NetworkFailure>) -> Void
  ) {
    self.receivesSubscription = receivesSubscription
    self.receivesAnswer = receivesAnswer
    self.receivesEnd = receivesEnd
  }

  @usableFromInline var description: String { "Answer" }
}

/// The same, made where the type of the subscriber is known.
@usableFromInline
final class TypedAnswerSubscriber<Downstream: Subscriber>: ErasedAnswerSubscriber
where Downstream.Input == HTTPResponse, Downstream.Failure == NetworkFailure {
  @usableFromInline let downstream: Downstream

  @inlinable
  init(_ downstream: Downstream) {
    self.downstream = downstream
    super.init(
      receivesSubscription: {
        // Each hands over itself.
        unsafeDowncast($0, to: TypedAnswerSubscriber.self).downstream.receive(subscription: $1)
      },
      // As above.
      receivesAnswer: { unsafeDowncast($0, to: TypedAnswerSubscriber.self).downstream.receive($1) },
      // As above.
      receivesEnd: { unsafeDowncast($0, to: TypedAnswerSubscriber.self).downstream.receive(completion: $1) }
    )
  }

  @usableFromInline override var description: String {
    (downstream as? any CustomStringConvertible)?.description ?? "\(Downstream.self)"
  }
}
