import StreamSupport

extension Subscribers {
  /// A subscriber that asks for everything and sets a property of an object.
  public final class Assign<Root, Input>: Subscriber, Cancellable, CustomStringConvertible, CustomReflectable,
    CustomPlaygroundDisplayConvertible
  {
    /// It can't take failures.
    public typealias Failure = Never

    private enum Status {
      case awaitingSubscription
      case subscribed(any Subscription)
      case terminal
    }

    // Whether nobody but the handle cancels this.
    private let isStoppedByHandle: Bool
    private let lock = Lock()
    // Guarded by `lock`.
    @exclusivity(unchecked) private var target: Root?
    @exclusivity(unchecked) private var status = Status.awaitingSubscription

    /// The property that is set.
    public let keyPath: ReferenceWritableKeyPath<Root, Input>

    /// The object whose property is set, kept until the end or cancellation; nil after that.
    public var object: Root? { lock.withLock { target } }

    /// Makes a subscriber that sets a property.
    public init(object: Root, keyPath: ReferenceWritableKeyPath<Root, Input>) {
      target = object
      self.keyPath = keyPath
      isStoppedByHandle = false
    }

    /// Makes a subscriber that only a handle stops.
    fileprivate init(stoppedByHandle object: Root, keyPath: ReferenceWritableKeyPath<Root, Input>) {
      target = object
      self.keyPath = keyPath
      isStoppedByHandle = true
    }

    /// Keeps the subscription and asks for everything; cancels a second one, or one that comes too late.
    public func receive(subscription: any Subscription) {
      lock.lock()
      guard case .awaitingSubscription = status else {
        lock.unlock()
        subscription.cancel()
        return
      }
      status = .subscribed(subscription)
      lock.unlock()
      subscription.request(.unlimited)
    }

    /// Sets the property, on the thread that sends; does nothing before the subscription and after the end.
    public func receive(_ value: Input) -> Subscribers.Demand {
      lock.lock()
      guard case .subscribed = status, let target else {
        lock.unlock()
        return .none
      }
      lock.unlock()
      target[keyPath: keyPath] = value
      return .none
    }

    /// Lets the object and the subscription go.
    public func receive(completion: Subscribers.Completion<Never>) {
      withExtendedLifetime(end(evenEarly: false)) {}
    }

    /// Cancels the subscription, and lets it and the object go; without a subscription it does nothing.
    public func cancel() {
      // A handle will not be there any more when the subscription comes late, from a scheduler for example.
      end(evenEarly: isStoppedByHandle)?.subscription?.cancel()
    }

    /// Ends the subscription if there is one, or early before it comes, and gives back what must not be released under
    /// the lock.
    private func end(evenEarly: Bool) -> (subscription: (any Subscription)?, target: Root?)? {
      lock.lock()
      defer { lock.unlock() }
      let held: (subscription: (any Subscription)?, target: Root?)
      switch status {
      case .subscribed(let subscription): held = (subscription, target)
      case .awaitingSubscription where evenEarly: held = (nil, target)
      default: return nil
      }
      status = .terminal
      target = nil
      return held
    }

    /// `Assign`, and the type of the object.
    public var description: String { "Assign \(Root.self)." }
    /// A mirror of the object, the key path, and whether there is a subscription.
    public var customMirror: Mirror {
      lock.lock()
      let (target, status) = (target, status)
      lock.unlock()
      return Mirror(self, children: ["object": target as Any, "keyPath": keyPath, "status": status])
    }
    /// The description.
    public var playgroundDescription: Any { description }
  }
}

extension Publisher where Failure == Never {
  /// Asks for everything and sets a property of an object to each value.
  ///
  /// - Parameters:
  ///   - keyPath: the property.
  ///   - object: kept until this publisher ends or the handle is cancelled. An object that keeps the handle keeps
  ///     itself; ``assign(to:)`` does not.
  /// - Threads: the property is set where this publisher sends.
  /// - Returns: a handle that ends the subscription when it is cancelled or released. Keep it.
  public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
    let assign = Subscribers.Assign(stoppedByHandle: object, keyPath: keyPath)
    subscribe(assign)
    return AnyCancellable(stopping: assign)
  }
}
