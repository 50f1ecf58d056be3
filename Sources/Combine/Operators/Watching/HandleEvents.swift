import StreamSupport

extension Publisher {
  /// Runs closures when events happen, before they pass on.
  ///
  /// - Parameters:
  ///   - receiveSubscription: runs when the upstream hands over a subscription.
  ///   - receiveOutput: runs for each value.
  ///   - receiveCompletion: runs at the end.
  ///   - receiveCancel: runs when the subscriber cancels; not at the end.
  ///   - receiveRequest: runs for each request, and for demand that a subscriber returns for a value.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: closures run where the events come from. All are released after the end or the cancel.
  @inlinable @inline(__always)
  public func handleEvents(
    receiveSubscription: ((any Subscription) -> Void)? = nil,
    receiveOutput: ((Output) -> Void)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil,
    receiveCancel: (() -> Void)? = nil,
    receiveRequest: ((Subscribers.Demand) -> Void)? = nil
  ) -> Publishers.HandleEvents<Self> {
    Publishers.HandleEvents(
      upstream: self,
      receiveSubscription: receiveSubscription,
      receiveOutput: receiveOutput,
      receiveCompletion: receiveCompletion,
      receiveCancel: receiveCancel,
      receiveRequest: receiveRequest
    )
  }
}

extension Publishers {
  /// A publisher that runs closures for what passes between its upstream and its subscriber.
  public struct HandleEvents<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher to watch.
    public let upstream: Upstream

    /// Runs when the upstream hands over a subscription.
    public var receiveSubscription: ((any Subscription) -> Void)?

    /// Runs for each value.
    public var receiveOutput: ((Upstream.Output) -> Void)?

    /// Runs at the end.
    public var receiveCompletion: ((Subscribers.Completion<Upstream.Failure>) -> Void)?

    /// Runs when the subscriber cancels.
    public var receiveCancel: (() -> Void)?

    /// Runs for each request, and for demand that a subscriber returns for a value.
    public var receiveRequest: ((Subscribers.Demand) -> Void)?

    /// Makes a publisher that runs closures for what passes between another and its subscribers.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      receiveSubscription: ((any Subscription) -> Void)? = nil,
      receiveOutput: ((Upstream.Output) -> Void)? = nil,
      receiveCompletion: ((Subscribers.Completion<Upstream.Failure>) -> Void)? = nil,
      receiveCancel: (() -> Void)? = nil,
      receiveRequest: ((Subscribers.Demand) -> Void)?
    ) {
      self.upstream = upstream
      self.receiveSubscription = receiveSubscription
      self.receiveOutput = receiveOutput
      self.receiveCompletion = receiveCompletion
      self.receiveCancel = receiveCancel
      self.receiveRequest = receiveRequest
    }

    /// Attaches a subscriber to the upstream, with the closures between them.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(
        HandleEventsSubscriber(
          EventHandlers(
            receiveSubscription: receiveSubscription,
            receiveOutput: receiveOutput,
            receiveCompletion: receiveCompletion,
            receiveCancel: receiveCancel,
            receiveRequest: receiveRequest
          ),
          to: subscriber
        )
      )
    }
  }
}

/// The closures of one subscription, in one object so that they are held and released together.
@usableFromInline
final class EventHandlers<Input, Failure: Error> {
  @usableFromInline let receiveSubscription: ((any Subscription) -> Void)?
  @usableFromInline let receiveOutput: ((Input) -> Void)?
  @usableFromInline let receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?
  @usableFromInline let receiveCancel: (() -> Void)?
  @usableFromInline let receiveRequest: ((Subscribers.Demand) -> Void)?

  @inlinable
  init(
    receiveSubscription: ((any Subscription) -> Void)?,
    receiveOutput: ((Input) -> Void)?,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?,
    receiveCancel: (() -> Void)?,
    receiveRequest: ((Subscribers.Demand) -> Void)?
  ) {
    self.receiveSubscription = receiveSubscription
    self.receiveOutput = receiveOutput
    self.receiveCompletion = receiveCompletion
    self.receiveCancel = receiveCancel
    self.receiveRequest = receiveRequest
  }
}

/// Runs closures and passes events on; values and completions in any state.
@usableFromInline
final class HandleEventsSubscriber<Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  // Known beforehand, so that values pass without the lock when nothing watches them.
  @usableFromInline let watchesOutput: Bool
  // Guarded by `lock`; taken out at the end.
  @exclusivity(unchecked) @usableFromInline var handlers: EventHandlers<Input, Failure>?

  @inlinable
  init(_ handlers: EventHandlers<Input, Failure>, to downstream: Downstream) {
    self.handlers = handlers
    watchesOutput = handlers.receiveOutput != nil
    self.downstream = downstream
    super.init()
  }

  @inlinable
  var heldHandlers: EventHandlers<Input, Failure>? {
    lock.lock()
    defer { lock.unlock() }
    return handlers
  }

  @inlinable
  func takeHandlers() -> EventHandlers<Input, Failure>? {
    lock.lock()
    defer { lock.unlock() }
    let taken = handlers
    handlers = nil
    return taken
  }

  @inlinable
  func receive(subscription: any Subscription) {
    heldHandlers?.receiveSubscription?(subscription)
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    if watchesOutput { heldHandlers?.receiveOutput?(input) }
    let more = downstream.receive(input)
    if more != .none { heldHandlers?.receiveRequest?(more) }
    return more
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    takeHandlers()?.receiveCompletion?(completion)
    // What it held is over; events go on whether it was held or not.
    withExtendedLifetime(end()) {}
    downstream.receive(completion: completion)
  }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    heldHandlers?.receiveRequest?(demand)
    held?.request(demand)
  }

  @inlinable
  override func cancel() {
    // Apple's way: a cancel that comes before the subscription is forgotten.
    guard !isWaiting else { return }
    takeHandlers()?.receiveCancel?()
    super.cancel()
  }

  @usableFromInline override var name: String { "HandleEvents" }
}
