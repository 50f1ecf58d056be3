import StreamSupport

extension Publisher where Failure == Never {
  /// Asks for everything and sets a `@Published` property to each value: `names.assign(to: &$name)`.
  ///
  /// The subscription belongs to the property: it is cancelled when the property goes with its object, and does not keep
  /// the object alive. The end is ignored.
  ///
  /// - Threads: the property is set where this publisher sends.
  public func assign(to published: inout Published<Output>.Publisher) {
    subscribe(PublishedSubscriber(published.state))
  }
}

/// Sets a property to what it receives, without keeping it alive; the property keeps this as a subscription of its own.
private final class PublishedSubscriber<Value>: Subscriber, SubjectUpstream {
  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private weak var state: PublishedSubject<Value>?
  @exclusivity(unchecked) private var upstream: (any Subscription)?

  init(_ state: PublishedSubject<Value>) {
    self.state = state
  }

  func receive(subscription: any Subscription) {
    lock.lock()
    guard upstream == nil, let state else {
      lock.unlock()
      subscription.cancel()
      return
    }
    upstream = subscription
    lock.unlock()
    state.keep(self)
  }

  func receive(_ input: Value) -> Subscribers.Demand {
    lock.lock()
    let state = upstream == nil ? nil : state
    lock.unlock()
    state?.send(input)
    return .none
  }

  func receive(completion: Subscribers.Completion<Never>) {
    withExtendedLifetime(end()) {}
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { upstream }?.request(demand)
  }

  func cancel() {
    end()?.cancel()
  }

  var isOver: Bool { lock.withLock { upstream == nil } }

  private func end() -> (any Subscription)? {
    lock.lock()
    defer { lock.unlock() }
    let subscription = upstream
    guard subscription != nil else { return nil }
    upstream = nil
    state = nil
    return subscription
  }
}
