/// A subject that sends values on as they come, and keeps none.
public final class PassthroughSubject<Output, Failure: Error>: Subject {
  @usableFromInline let fanout = Fanout<Output, Failure>()
  @usableFromInline let inflow = Inflow(startsAtOnce: false)

  /// Makes a subject without subscribers.
  @inlinable
  public init() {}

  /// Takes over the subscription of an upstream publisher; it is asked for everything once somebody wants values here.
  public func send(subscription: any Subscription) {
    inflow.add(subscription)
  }

  /// Attaches a subscriber.
  @inlinable @inline(__always)
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    entrust(subscriber)
    attach(AnySubscriber(subscriber).port)
  }

  /// Sends a value to all who asked for one; the others miss it.
  @inlinable @inline(__always)
  public func send(_ input: Output) {
    fanout.send(input)
  }

  /// Ends the subject for all subscribers, present and to come.
  public func send(completion: Subscribers.Completion<Failure>) {
    fanout.end(completion)
  }

  @inlinable
  func attach(_ port: Port<Output, Failure>) {
    fanout.attach(PassthroughOutlet(to: port, of: self), port)
  }
}

/// A subscriber's place at a passthrough subject, which starts the subject's upstream when values are first wanted.
@usableFromInline
final class PassthroughOutlet<Output, Failure: Error>: Outlet<Output, Failure> {
  // Values wanted once are wanted for good, so most outlets have nothing to start.
  @usableFromInline let mayHaveToStart: Bool

  @inlinable
  init(to port: Port<Output, Failure>, of subject: PassthroughSubject<Output, Failure>) {
    mayHaveToStart = !subject.inflow.hasStarted
    super.init(to: port, of: subject.fanout, owner: subject)
  }

  @usableFromInline
  override func didOwe() {
    if mayHaveToStart { (openOwner as? PassthroughSubject<Output, Failure>)?.inflow.start() }
  }

  @usableFromInline override var name: String { "PassthroughSubject" }
}
