/// A subject that keeps its latest value, and gives it to newcomers.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
  @usableFromInline let cell: Cell<Output>
  @usableFromInline let latest = Latest<Output, Failure>()
  @usableFromInline let inflow = Inflow(startsAtOnce: true)

  /// Makes a subject with a first value.
  @inlinable
  public init(_ value: Output) {
    cell = Cell(value)
  }

  /// The latest value.
  ///
  /// Setting it sends it; after the end it is only kept.
  @inlinable
  public var value: Output {
    get { cell.value }
    set {
      if latest.hasEnded { cell.replace(with: newValue) } else { send(newValue) }
    }
  }

  /// Takes over the subscription of an upstream publisher, and asks it for everything.
  public func send(subscription: any Subscription) {
    inflow.add(subscription)
  }

  /// Attaches a subscriber, which gets the latest value with its first request.
  @inlinable @inline(__always)
  public func receive<S>(subscriber: consuming S) where Output == S.Input, Failure == S.Failure, S: Subscriber {
    entrust(subscriber)
    latest.attach(AnySubscriber(subscriber).port, reading: cell, name: "CurrentValueSubject", owner: self)
  }

  /// Keeps a value and sends it to all who asked for one; the others get the latest when they ask.
  @inlinable @inline(__always)
  public func send(_ input: Output) {
    let latest = latest
    latest.fanout.beginRound()
    if !latest.hasEnded {
      cell.replace(with: input)
      latest.deliver(input)
    }
    latest.fanout.endRound()
  }

  /// Ends the subject for all subscribers, present and to come.
  public func send(completion: Subscribers.Completion<Failure>) {
    latest.fanout.end(completion)
  }
}
