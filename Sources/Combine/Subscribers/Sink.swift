import StreamSupport
import Synchronization

extension Subscribers {
  /// A subscriber that asks for everything and runs closures.
  public final class Sink<Input, Failure: Error>: Subscriber, Cancellable, CustomStringConvertible, CustomReflectable,
    CustomPlaygroundDisplayConvertible
  {
    /// The closures, to be called where they are: a copy would cost every value a retain.
    @usableFromInline
    struct Handlers: ~Copyable {
      @usableFromInline let receiveValue: (Input) -> Void
      @usableFromInline let receiveCompletion: (Subscribers.Completion<Failure>) -> Void

      @inlinable @inline(__always)
      init(
        receiveValue: @escaping (Input) -> Void,
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void
      ) {
        self.receiveValue = receiveValue
        self.receiveCompletion = receiveCompletion
      }
    }

    @usableFromInline let state: SinkState
    // Whether a value is in the closure. Who delivers sets this and then looks whether the sink is over, who ends a sink
    // notes that and then looks here, all in one order: so the closures go while no value is inside, and a value inside
    // needs no retain.
    @usableFromInline let isDelivering = Atomic<Bool>(false)
    @usableFromInline let lock = Lock()
    // Taken out under `lock`, after the end, by one who knows that no value is inside.
    @exclusivity(unchecked) @usableFromInline var handlers: Handlers?
    // Guarded by `lock` once the sink is subscribed: the handle, which may keep an entrusted sink besides the chain. It
    // takes itself out before it goes, if it may still be looked at.
    @exclusivity(unchecked) @usableFromInline var keeper: Unmanaged<AnyCancellable>?

    /// Makes a sink of two closures.
    @inlinable @inline(__always)
    public init(
      receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
      receiveValue: @escaping ((Input) -> Void)
    ) {
      handlers = Handlers(receiveValue: receiveValue, receiveCompletion: receiveCompletion)
      state = SinkState(isTrustful: false)
    }

    /// Makes a sink that only its chain keeps, and the handle that stops it.
    @inlinable @inline(__always)
    init(
      stoppedByHandle receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
      receiveValue: @escaping ((Input) -> Void)
    ) {
      handlers = Handlers(receiveValue: receiveValue, receiveCompletion: receiveCompletion)
      state = SinkState(isTrustful: true)
    }

    /// The closure that takes values; an empty one once the sink is over.
    public var receiveValue: (Input) -> Void { lock.withLock { handlers?.receiveValue } ?? { _ in } }

    /// The closure that takes the end; an empty one once the sink is over.
    public var receiveCompletion: (Subscribers.Completion<Failure>) -> Void {
      lock.withLock { handlers?.receiveCompletion } ?? { _ in }
    }

    /// Keeps the subscription and asks for everything; cancels a second one, or one that comes too late.
    @inlinable @inline(__always)
    public func receive(subscription: any Subscription) {
      guard state.hold(subscription.asBase) else { return subscription.cancel() }
      noteIfSimulated()
      subscription.request(.unlimited)
    }

    /// Runs the closure for values, on the thread that sends.
    @inlinable @inline(__always)
    public func receive(_ value: Input) -> Subscribers.Demand {
      if state.isEntrustedAndOpen {
        // Nobody releases the closures before the sink goes, and whoever delivers keeps that.
        deliver(value)
        return .none
      }
      return receiveWithCare(value)
    }

    /// Runs the closure for the end, once, and releases both closures and the subscription.
    @inlinable
    public func receive(completion: Subscribers.Completion<Failure>) {
      guard let ending = state.end() else { return }
      if ending.wasEntrusted {
        // As for values.
        handlers?.receiveCompletion(completion)
        letGoByKeeper()
      } else {
        finish(completion)
      }
      // The subscription is over; keeping it would keep what it holds.
      withExtendedLifetime(ending) {}
    }

    /// Cancels the subscription and releases it and both closures; without a subscription it does nothing.
    @inlinable
    public func cancel() {
      guard let wasEntrusted = state.cancel() else { return forgetKeeper() }
      if !wasEntrusted {
        // What the closures captured may run code of its own when it goes: here, with nothing held.
        _ = takeIdleHandlers()
      }
    }

    /// Always `Sink`.
    public var description: String { "Sink" }
    /// A mirror without inner publishers.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
    /// Always `Sink`.
    public var playgroundDescription: Any { description }
  }
}

extension Subscribers.Sink {
  @inlinable @inline(__always)
  func deliver(_ value: Input) {
    // A switch borrows the closure; optional chaining would retain it.
    switch handlers {
    case .some(let handlers): handlers.receiveValue(value)
    case nil: break
    }
  }

  /// Takes a value if nobody promises to let go of the sink in time, or after the end.
  @inlinable @inline(__always)
  func receiveWithCare(_ value: Input) -> Subscribers.Demand {
    if state.isEntrusted { return .none }
    guard !isDelivering.exchange(true, ordering: .sequentiallyConsistent) else { return receiveInside(value) }
    if !state.isOver { deliver(value) }
    isDelivering.store(false, ordering: .releasing)
    if state.isOver { releaseHandlers() }
    return .none
  }

  /// Takes a value that comes while another is in the closure.
  ///
  /// It was sent from inside, or by an upstream that breaks the rule of one at a time; so what it needs is retained.
  @inlinable
  func receiveInside(_ value: Input) -> Subscribers.Demand {
    if !state.isOver { receiveValue(value) }
    return .none
  }

  /// Runs the closure for the end of a sink that is not entrusted.
  @inlinable
  func finish(_ completion: Subscribers.Completion<Failure>) {
    if let idle = takeIdleHandlers() {
      idle.receiveCompletion(completion)
    } else {
      receiveCompletion(completion)
      if !isDelivering.load(ordering: .sequentiallyConsistent) { releaseHandlers() }
    }
  }

  /// Takes the closures out, except if a value is inside, whose deliverer does it then.
  ///
  /// Called after the end.
  @inlinable
  func takeIdleHandlers() -> Handlers? {
    lock.lock()
    defer { lock.unlock() }
    return isDelivering.load(ordering: .sequentiallyConsistent) ? nil : handlers.take()
  }

  /// Lets the closures go, if they do not go with the sink.
  @inlinable
  func releaseHandlers() {
    guard !state.isEntrusted else { return }
    lock.lock()
    let released = handlers.take()
    lock.unlock()
    // What they captured may run code of its own, so not under the lock.
    _ = consume released
  }
}

extension Subscribers.Sink {
  @usableFromInline
  func noteIfSimulated() { QueueDiversion.current?.note(self) { !$0.state.isOver } }
}

extension Subscribers.Sink: Entrusted {
  @inlinable
  func entrust() {
    state.entrust()
  }

  /// Has the handle, which may be kept on, let go of this, which has ended.
  @usableFromInline
  func letGoByKeeper() {
    lock.lock()
    // No reference is counted: a handle that finds nothing left to stop may be gone right after the exchange.
    let kept = keeper?._withUnsafeGuaranteedRef { $0.activity.exchange(nil, ordering: .acquiringAndReleasing) }
    keeper = nil
    lock.unlock()
    kept?.release()
  }

  /// Notes that the handle is about to go.
  ///
  /// Only the end of an entrusted sink looks at it, and that has not come yet, or may be under way.
  @usableFromInline
  func forgetKeeper() {
    if state.isOver, !state.isEntrusted { return }
    lock.lock()
    keeper = nil
    lock.unlock()
  }

  /// A handle that stops this; made before this is subscribed.
  @inlinable @inline(__always)
  func makeHandle() -> AnyCancellable {
    let handle = AnyCancellable(stopping: self)
    keeper = .passUnretained(handle)
    return handle
  }
}

extension Publisher {
  /// Asks for everything and runs closures.
  ///
  /// - Returns: a handle that ends the subscription when it is cancelled or released. Keep it.
  @inlinable @inline(__always)
  public func sink(
    receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
    receiveValue: @escaping ((Output) -> Void)
  ) -> AnyCancellable {
    let sink = Subscribers.Sink<Output, Failure>(stoppedByHandle: receiveCompletion, receiveValue: receiveValue)
    let handle = sink.makeHandle()
    subscribe(consume sink)
    return handle
  }
}

extension Publisher where Failure == Never {
  /// Asks for everything and runs a closure for each value.
  ///
  /// - Returns: a handle that ends the subscription when it is cancelled or released. Keep it.
  @inlinable @inline(__always)
  public func sink(receiveValue: @escaping ((Output) -> Void)) -> AnyCancellable {
    let sink = Subscribers.Sink<Output, Never>(stoppedByHandle: { _ in }, receiveValue: receiveValue)
    let handle = sink.makeHandle()
    subscribe(consume sink)
    return handle
  }
}
