import Combine

/// A subscriber of answers whose type is hidden.
///
/// In the place of Combine's own, which makes an object of each subscription that is not of that module. Its ways in are closures
/// that capture nothing, made where the type is known, since Swift does not specialise the methods of a generic class.
@usableFromInline
class AnswerSubscriber: Subscriber, CustomStringConvertible {
  @usableFromInline typealias Input = HTTPResponse
  @usableFromInline typealias Failure = NetworkFailure

  private let receivesSubscription: (AnswerSubscriber, any Subscription) -> Void
  private let receivesAnswer: (AnswerSubscriber, HTTPResponse) -> Subscribers.Demand
  private let receivesEnd: (AnswerSubscriber, Subscribers.Completion<NetworkFailure>) -> Void

  @usableFromInline
  init(
    receivesSubscription: @escaping (AnswerSubscriber, any Subscription) -> Void,
    receivesAnswer: @escaping (AnswerSubscriber, HTTPResponse) -> Subscribers.Demand,
    receivesEnd: @escaping (AnswerSubscriber, Subscribers.Completion<NetworkFailure>) -> Void
  ) {
    self.receivesSubscription = receivesSubscription
    self.receivesAnswer = receivesAnswer
    self.receivesEnd = receivesEnd
  }

  @usableFromInline var description: String { "Answer" }

  @usableFromInline
  final func receive(subscription: any Subscription) { receivesSubscription(self, subscription) }

  @usableFromInline
  final func receive(_ answer: HTTPResponse) -> Subscribers.Demand { receivesAnswer(self, answer) }

  @usableFromInline
  final func receive(completion: Subscribers.Completion<NetworkFailure>) { receivesEnd(self, completion) }
}

/// An ``AnswerSubscriber``, made where the type of the subscriber is known.
@usableFromInline
final class ErasedAnswerSubscriber<Downstream: Subscriber>: AnswerSubscriber
where Downstream.Input == HTTPResponse, Downstream.Failure == NetworkFailure {
  @usableFromInline let downstream: Downstream

  @inlinable
  init(_ downstream: Downstream) {
    self.downstream = downstream
    super.init(
      receivesSubscription: {
        // Each hands over itself.
        unsafeDowncast($0, to: ErasedAnswerSubscriber.self).downstream.receive(subscription: $1)
      },
      // As above.
      receivesAnswer: { unsafeDowncast($0, to: ErasedAnswerSubscriber.self).downstream.receive($1) },
      // As above.
      receivesEnd: { unsafeDowncast($0, to: ErasedAnswerSubscriber.self).downstream.receive(completion: $1) }
    )
  }

  @usableFromInline override var description: String {
    (downstream as? any CustomStringConvertible)?.description ?? "\(Downstream.self)"
  }
}
