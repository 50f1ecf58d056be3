/// A subject that sends values on as they come, and keeps none.
public final class PassthroughSubject<Output, Failure: Error>: Subject {
  @usableFromInline let broadcaster = Broadcaster<Output, Failure>()
  @usableFromInline let upstreams = SubjectUpstreams(startsAtOnce: false)

  /// Makes a subject without subscribers.
  @inlinable
  public init() {}

  /// Takes over the subscription of an upstream publisher; it is asked for everything once somebody wants values here.
  public func send(subscription: any Subscription) {
    upstreams.add(subscription)
  }

  /// Attaches a subscriber.
  @inlinable
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    entrust(subscriber)
    attach(AnySubscriber(subscriber).erased)
  }

  /// Sends a value to all who asked for one; the others miss it.
  @inlinable @inline(__always)
  public func send(_ input: Output) {
    broadcaster.send(input)
  }

  /// Ends the subject for all subscribers, present and to come.
  public func send(completion: Subscribers.Completion<Failure>) {
    broadcaster.end(completion)
  }

  @inlinable
  func attach(_ erased: ErasedSubscriber<Output, Failure>) {
    broadcaster.attach(PassthroughSubscription(to: erased, of: self), erased)
  }
}

/// A subscription to a passthrough subject, which starts the subject's upstream when values are first wanted.
@usableFromInline
final class PassthroughSubscription<Output, Failure: Error>: SubjectSubscription<Output, Failure> {
  // Values wanted once are wanted for good, so most subscriptions have nothing to start.
  @usableFromInline let mayHaveToStart: Bool

  @inlinable
  init(to erased: ErasedSubscriber<Output, Failure>, of subject: PassthroughSubject<Output, Failure>) {
    mayHaveToStart = !subject.upstreams.hasStarted
    super.init(to: erased, of: subject.broadcaster, owner: subject)
  }

  @usableFromInline
  override func didRequest() {
    if mayHaveToStart { (openOwner as? PassthroughSubject<Output, Failure>)?.upstreams.start() }
  }

  @usableFromInline override var name: String { "PassthroughSubject" }
}
