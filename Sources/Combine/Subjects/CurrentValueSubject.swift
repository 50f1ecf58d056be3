/// A subject that keeps its latest value, and gives it to newcomers.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
  @usableFromInline let latest: Latest<Output, Failure>
  @usableFromInline let inflow = Inflow(startsAtOnce: true)

  /// Makes a subject with a first value.
  @inlinable
  public init(_ value: Output) {
    latest = Latest(value)
  }

  /// The latest value. Setting it sends it; after the end it is only kept.
  @inlinable
  public var value: Output {
    get { latest.value }
    set {
      if latest.hasEnded { latest.keep(newValue) } else { send(newValue) }
    }
  }

  /// Takes over the subscription of an upstream publisher, and asks it for everything.
  public func send(subscription: any Subscription) {
    inflow.add(subscription)
  }

  /// Attaches a subscriber, which gets the latest value with its first request.
  @inlinable @inline(__always)
  public func receive<S>(subscriber: S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    latest.attach(AnySubscriber(subscriber).port, name: "CurrentValueSubject", owner: self)
  }

  /// Keeps a value and sends it to all who asked for one; the others get the latest when they ask.
  @inlinable @inline(__always)
  public func send(_ input: Output) {
    latest.fanout.turnstile.enter()
    if !latest.hasEnded {
      latest.keep(input)
      latest.publish(input)
    }
    latest.fanout.endRound()
  }

  /// Ends the subject for all subscribers, present and to come.
  public func send(completion: Subscribers.Completion<Failure>) {
    latest.fanout.end(completion)
  }
}
