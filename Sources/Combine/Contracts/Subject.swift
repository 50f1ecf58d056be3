/// A publisher into which values can be put from outside.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
  /// Sends a value to the subscribers.
  func send(_ value: Output)

  /// Sends the end to the subscribers; later values are ignored.
  func send(completion: Subscribers.Completion<Failure>)

  /// Hands the subject the subscription of an upstream publisher, to control demand and cancellation.
  func send(subscription: any Subscription)
}

extension Subject where Output == Void {
  /// Signals the subscribers.
  @inlinable
  public func send() {
    send(())
  }
}
