/// The way into a subscriber whose type is not known here.
///
/// Swift does not specialise the method tables of generic classes, so the entry for values is a capture-free closure
/// made where the subscriber's type is known: what runs behind it is the specialised chain.
@usableFromInline
class Port<Input, Failure: Error> {
  @usableFromInline let receiveValue: (AnyObject, Input) -> Subscribers.Demand
  @usableFromInline let receiveSubscription: (AnyObject, any Subscription) -> Void
  @usableFromInline let receiveCompletion: (AnyObject, Subscribers.Completion<Failure>) -> Void

  @inlinable
  init(
    receiveValue: @escaping (AnyObject, Input) -> Subscribers.Demand,
    receiveSubscription: @escaping (AnyObject, any Subscription) -> Void,
    receiveCompletion: @escaping (AnyObject, Subscribers.Completion<Failure>) -> Void
  ) {
    self.receiveValue = receiveValue
    self.receiveSubscription = receiveSubscription
    self.receiveCompletion = receiveCompletion
  }

  /// The subscriber itself, for reflection only.
  @usableFromInline var subject: Any { self }
  @usableFromInline var identifier: CombineIdentifier { CombineIdentifier(self) }

  @inlinable @inline(__always)
  final func receive(_ input: Input) -> Subscribers.Demand {
    receiveValue(self, input)
  }

  @inlinable
  final func receive(subscription: any Subscription) {
    receiveSubscription(self, subscription)
  }

  @inlinable
  final func receive(completion: Subscribers.Completion<Failure>) {
    receiveCompletion(self, completion)
  }
}

/// The way into a subscriber, made where its type is known.
@usableFromInline
final class SubscriberPort<Downstream: Subscriber>: Port<Downstream.Input, Downstream.Failure> {
  @usableFromInline let downstream: Downstream

  @inlinable @inline(__always)
  init(_ downstream: Downstream) {
    self.downstream = downstream
    super.init(
      receiveValue: { port, input in
        // Ports hand themselves over, nothing else.
        unsafeDowncast(port, to: SubscriberPort<Downstream>.self).downstream.receive(input)
      },
      receiveSubscription: { port, subscription in
        // As above.
        unsafeDowncast(port, to: SubscriberPort<Downstream>.self).downstream.receive(subscription: subscription)
      },
      receiveCompletion: { port, completion in
        // As above.
        unsafeDowncast(port, to: SubscriberPort<Downstream>.self).downstream.receive(completion: completion)
      }
    )
  }

  @usableFromInline override var subject: Any { downstream }
  @usableFromInline override var identifier: CombineIdentifier { downstream.combineIdentifier }
}
