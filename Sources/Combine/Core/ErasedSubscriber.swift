/// The way into a subscriber whose type is not known here.
///
/// Swift does not specialise the method tables of generic classes, so each entry is a capture-free closure made where the
/// subscriber's type is known: what runs behind it is the specialised chain.
@usableFromInline
class ErasedSubscriber<Input, Failure: Error> {
  @usableFromInline let receiveValue: (AnyObject, Input) -> Subscribers.Demand
  @usableFromInline let receiveSubscription: (AnyObject, SubscriptionBase) -> Void
  /// Takes the end, by address, so that no type has to be looked up at run time where the code is not specialised; nil is
  /// the promise of ``Entrusted``.
  @usableFromInline let receiveEnd: (AnyObject, UnsafePointer<Subscribers.Completion<Failure>>?) -> Void

  @inlinable
  init(
    receiveValue: @escaping (AnyObject, Input) -> Subscribers.Demand,
    receiveSubscription: @escaping (AnyObject, SubscriptionBase) -> Void,
    receiveEnd: @escaping (AnyObject, UnsafePointer<Subscribers.Completion<Failure>>?) -> Void
  ) {
    self.receiveValue = receiveValue
    self.receiveSubscription = receiveSubscription
    self.receiveEnd = receiveEnd
  }

  /// The subscriber itself, for reflection only.
  @usableFromInline var subject: Any { self }
  @usableFromInline var identifier: CombineIdentifier { CombineIdentifier(self) }

  @inlinable @inline(__always)
  final func receive(_ input: Input) -> Subscribers.Demand {
    receiveValue(self, input)
  }

  @inlinable
  final func receive(subscription: SubscriptionBase) {
    receiveSubscription(self, subscription)
  }

  @inlinable
  final func entrust() {
    receiveEnd(self, nil)
  }

  @inlinable
  final func receive(completion: Subscribers.Completion<Failure>) {
    var completion = completion
    receiveEnd(self, &completion)
  }
}

/// The way into a subscriber, made where its type is known.
@usableFromInline
final class SubscriberBox<Downstream: Subscriber>: ErasedSubscriber<Downstream.Input, Downstream.Failure> {
  @usableFromInline let downstream: Downstream

  @inlinable @inline(__always)
  init(_ downstream: consuming Downstream) {
    self.downstream = downstream
    super.init(
      receiveValue: { erased, input in
        // Boxes hand themselves over, nothing else.
        unsafeDowncast(erased, to: SubscriberBox<Downstream>.self).downstream.receive(input)
      },
      receiveSubscription: { erased, subscription in
        // As above.
        let erased = unsafeDowncast(erased, to: SubscriberBox<Downstream>.self)
        // A sink shows its subscription to nobody, and keeps the box as it is.
        if Downstream.self != Subscribers.Sink<Downstream.Input, Downstream.Failure>.self,
          let foreign = subscription as? SubscriptionBox
        {
          erased.downstream.receive(subscription: foreign.content)
        } else {
          erased.downstream.receive(subscription: subscription)
        }
      },
      receiveEnd: { erased, completion in
        // As above.
        let erased = unsafeDowncast(erased, to: SubscriberBox<Downstream>.self)
        if let completion {
          erased.downstream.receive(completion: completion.pointee)
        } else {
          Combine.entrust(erased.downstream)
        }
      }
    )
  }

  @usableFromInline override var subject: Any { downstream }
  @usableFromInline override var identifier: CombineIdentifier { downstream.combineIdentifier }
}
