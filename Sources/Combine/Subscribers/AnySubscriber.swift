/// A subscriber whose type is hidden, or made of closures.
@frozen
public struct AnySubscriber<Input, Failure: Error>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline let erased: ErasedSubscriber<Input, Failure>

  /// Hides the type of a subscriber; what is hidden already is taken as it is.
  @inlinable @inline(__always)
  public init<S>(_ s: S) where S: Subscriber, Failure == S.Failure, Input == S.Input {
    if let erased = s as? AnySubscriber<Input, Failure> {
      self = erased
    } else {
      erased = SubscriberBox(s)
    }
  }

  /// Makes a subscriber that puts into a subject what it receives.
  public init<S>(_ s: S) where S: Subject, Failure == S.Failure, Input == S.Output {
    self.init(SubjectSubscriber(s))
  }

  /// Makes a subscriber of closures; one left out does nothing and wants no more values.
  public init(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveValue: ((Input) -> Subscribers.Demand)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil
  ) {
    self.init(
      ClosureSubscriber(
        receiveSubscription: receiveSubscription,
        receiveValue: receiveValue,
        receiveCompletion: receiveCompletion
      )
    )
  }

  /// The identifier of the subscriber inside.
  public var combineIdentifier: CombineIdentifier { erased.identifier }

  /// The description of the subscriber inside, or its type's name.
  public var description: String {
    (erased.subject as? any CustomStringConvertible)?.description ?? "\(type(of: erased.subject))"
  }

  /// The mirror of the subscriber inside, or one without inner publishers.
  public var customMirror: Mirror {
    (erased.subject as? any CustomReflectable)?.customMirror ?? Mirror(erased.subject, children: [:])
  }

  /// What the subscriber inside shows in a playground.
  public var playgroundDescription: Any {
    (erased.subject as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription ?? description
  }

  /// Passes the subscription on.
  @inlinable
  public func receive(subscription: any Subscription) {
    erased.receive(subscription: subscription.asBase)
  }

  /// Passes a value on, and returns the answer.
  @inlinable @inline(__always)
  public func receive(_ value: Input) -> Subscribers.Demand {
    erased.receive(value)
  }

  /// Passes the end on.
  @inlinable
  public func receive(completion: Subscribers.Completion<Failure>) {
    erased.receive(completion: completion)
  }
}

private final class ClosureSubscriber<Input, Failure: Error>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  let receiveSubscription: ((any Subscription) -> Void)?
  let receiveValue: ((Input) -> Subscribers.Demand)?
  let receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?

  init(
    receiveSubscription: ((any Subscription) -> Void)?,
    receiveValue: ((Input) -> Subscribers.Demand)?,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?
  ) {
    self.receiveSubscription = receiveSubscription
    self.receiveValue = receiveValue
    self.receiveCompletion = receiveCompletion
  }

  // A class has the address as its identifier, which another may get later; closures never share one.
  let combineIdentifier = CombineIdentifier()
  var description: String { "Anonymous AnySubscriber" }
  var customMirror: Mirror { Mirror(reflecting: description) }
  var playgroundDescription: Any { description }

  func receive(subscription: any Subscription) { receiveSubscription?(subscription) }
  func receive(_ input: Input) -> Subscribers.Demand { receiveValue?(input) ?? .none }
  func receive(completion: Subscribers.Completion<Failure>) { receiveCompletion?(completion) }
}
