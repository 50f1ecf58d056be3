/// A receiver of values over time, which says how many it can take.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  /// The kind of values received.
  associatedtype Input

  /// The kind of error received; `Never` if none can come.
  associatedtype Failure: Error

  /// Tells that the subscription is there, through which values are requested. Called once, before anything else.
  func receive(subscription: any Subscription)

  /// Takes a value.
  ///
  /// - Returns: how many values more are wanted, added to what is still owed.
  func receive(_ input: Input) -> Subscribers.Demand

  /// Takes the end of the sequence, normal or by failure; nothing comes after it.
  func receive(completion: Subscribers.Completion<Failure>)
}

extension Subscriber where Input == Void {
  /// Takes a value that carries nothing but the fact that it came.
  @inlinable
  public func receive() -> Subscribers.Demand {
    receive(())
  }
}

/// A namespace for types that serve as subscribers.
public enum Subscribers {}
