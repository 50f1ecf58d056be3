/// The way into a subscriber whose type is not known here.
///
/// Swift does not specialise the method tables of generic classes, so the entry for values is a capture-free closure
/// made where the subscriber's type is known: what runs behind it is the specialised chain.
@usableFromInline
class Port<Input, Failure: Error> {
  /// Takes a value, for this port or, if there is a run, for all ports of that.
  @usableFromInline let receiveValue: (AnyObject, Input, UnsafePointer<RosterRun>?) -> Subscribers.Demand
  @usableFromInline let receiveSubscription: (AnyObject, any Subscription) -> Void
  /// Takes the end; nil is the promise of ``Entrusted``.
  @usableFromInline let receiveEnd: (AnyObject, Subscribers.Completion<Failure>?) -> Void

  @inlinable
  init(
    receiveValue: @escaping (AnyObject, Input, UnsafePointer<RosterRun>?) -> Subscribers.Demand,
    receiveSubscription: @escaping (AnyObject, any Subscription) -> Void,
    receiveEnd: @escaping (AnyObject, Subscribers.Completion<Failure>?) -> Void
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
    receiveValue(self, input, nil)
  }

  /// Takes a value for this port and those of the same type that follow it.
  @inlinable @inline(__always)
  final func receive(_ input: Input, in run: RosterRun) {
    _ = withUnsafePointer(to: run) { receiveValue(self, input, $0) }
  }

  @inlinable
  final func receive(subscription: any Subscription) {
    receiveSubscription(self, subscription)
  }

  @inlinable
  final func entrust() {
    receiveEnd(self, nil)
  }

  @inlinable
  final func receive(completion: Subscribers.Completion<Failure>) {
    receiveEnd(self, completion)
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
      receiveValue: { port, input, run in
        // Ports hand themselves over, nothing else, and those of a run have one type.
        guard let run else {
          return unsafeDowncast(port, to: SubscriberPort<Downstream>.self).downstream.receive(input)
        }
        run.pointee.walk { _ = unsafeDowncast($0, to: SubscriberPort<Downstream>.self).downstream.receive(input) }
        return .none
      },
      receiveSubscription: { port, subscription in
        // As above.
        unsafeDowncast(port, to: SubscriberPort<Downstream>.self).downstream.receive(subscription: subscription)
      },
      receiveEnd: { port, completion in
        // As above.
        let port = unsafeDowncast(port, to: SubscriberPort<Downstream>.self)
        if let completion { port.downstream.receive(completion: completion) } else { Combine.entrust(port.downstream) }
      }
    )
  }

  @usableFromInline override var subject: Any { downstream }
  @usableFromInline override var identifier: CombineIdentifier { downstream.combineIdentifier }
}
