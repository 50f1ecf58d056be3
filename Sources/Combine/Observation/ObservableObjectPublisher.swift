/// Signals that an object is about to change.
///
/// Never ends. The default ``ObservableObject/objectWillChange``.
public final class ObservableObjectPublisher: Publisher {
  /// It signals, without a value.
  public typealias Output = Void
  /// It can't fail.
  public typealias Failure = Never

  @usableFromInline let broadcaster = Broadcaster<Void, Never>()

  /// Makes a publisher without subscribers.
  @inlinable
  public init() {}

  /// Attaches a subscriber, which gets every signal from its first request on, however many it asked for.
  @inlinable
  public func receive<S>(subscriber: consuming S) where S: Subscriber, S.Failure == Never, S.Input == Void {
    attach(AnySubscriber(subscriber).erased)
  }

  /// Signals the subscribers.
  @inlinable
  public func send() {
    broadcaster.send(())
  }

  @usableFromInline
  func attach(_ erased: ErasedSubscriber<Void, Never>) {
    broadcaster.attach(ObservableObjectSubscription(to: erased, of: broadcaster, owner: self), erased)
  }
}

/// A subscription to an object's publisher: off until it asks for anything, then on for good.
private final class ObservableObjectSubscription: SubjectSubscription<Void, Never> {
  override func request(_ demand: Subscribers.Demand) {
    if demand > .none { outstanding.add(.unlimited) }
  }

  override var name: String { "ObservableObjectPublisher" }

  override var children: [(label: String?, value: Any)] {
    [("downstream", (openOwner == nil ? nil : downstream) as Any)]
  }
}
