/// A subject that keeps its latest value, and gives it to newcomers.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
  @usableFromInline let box: AtomicBox<Output>
  @usableFromInline let values = CurrentValueBroadcaster<Output, Failure>()
  @usableFromInline let upstreams = SubjectUpstreams(startsAtOnce: true)

  /// Makes a subject with a first value.
  @inlinable
  public init(_ value: Output) {
    box = AtomicBox(value)
  }

  /// The latest value.
  ///
  /// Setting it sends it; after the end it is only kept.
  @inlinable
  public var value: Output {
    get { box.value }
    set {
      if values.hasEnded { box.replace(with: newValue) } else { send(newValue) }
    }
  }

  /// Takes over the subscription of an upstream publisher, and asks it for everything.
  public func send(subscription: any Subscription) {
    upstreams.add(subscription)
  }

  /// Attaches a subscriber, which gets the latest value with its first request.
  @inlinable
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    entrust(subscriber)
    values.attach(AnySubscriber(subscriber).erased, reading: box, name: "CurrentValueSubject", owner: self)
  }

  /// Keeps a value and sends it to all who asked for one; the others get the latest when they ask.
  @inlinable @inline(__always)
  public func send(_ input: Output) {
    let values = values
    values.broadcaster.beginRound()
    if !values.hasEnded {
      box.replace(with: input)
      values.deliver(input)
    }
    values.broadcaster.endRound()
  }

  /// Ends the subject for all subscribers, present and to come.
  public func send(completion: Subscribers.Completion<Failure>) {
    values.broadcaster.end(completion)
  }
}
