/// The way into a subscriber whose type is not known here.
///
/// Swift does not specialise the method tables of generic classes, so the entry for values is a capture-free closure
/// made where the subscriber's type is known: what runs behind it is the specialised chain.
@usableFromInline
class Port<Input, Failure: Error> {
  /// What comes besides values.
  @usableFromInline
  enum Event {
    case subscription(any Subscription)
    case completion(Subscribers.Completion<Failure>)
  }

  @usableFromInline let receiveValue: (AnyObject, Input) -> Subscribers.Demand
  @usableFromInline let receiveEvent: (AnyObject, Event) -> Void

  @inlinable
  init(
    receiveValue: @escaping (AnyObject, Input) -> Subscribers.Demand,
    receiveEvent: @escaping (AnyObject, Event) -> Void
  ) {
    self.receiveValue = receiveValue
    self.receiveEvent = receiveEvent
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
    receiveEvent(self, .subscription(subscription))
  }

  @inlinable
  final func receive(completion: Subscribers.Completion<Failure>) {
    receiveEvent(self, .completion(completion))
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
      receiveEvent: { port, event in
        let downstream = unsafeDowncast(port, to: SubscriberPort<Downstream>.self).downstream
        switch event {
        case .subscription(let subscription): downstream.receive(subscription: subscription)
        case .completion(let completion): downstream.receive(completion: completion)
        }
      }
    )
  }

  @usableFromInline override var subject: Any { downstream }
  @usableFromInline override var identifier: CombineIdentifier { downstream.combineIdentifier }
}
