import StreamSupport
import Synchronization

extension Subscribers {
  /// A subscriber that asks for everything and runs closures.
  public final class Sink<Input, Failure: Error>: Subscriber, Cancellable, CustomStringConvertible, CustomReflectable,
    CustomPlaygroundDisplayConvertible
  {
    /// The closures, in an object of their own so that they can go before the sink does.
    @usableFromInline
    final class Handlers {
      @usableFromInline let receiveValue: (Input) -> Void
      @usableFromInline let receiveCompletion: (Subscribers.Completion<Failure>) -> Void
      // Guarded by the sink's lock: what keeps an entrusted sink besides the chain. It takes itself out before it goes.
      @exclusivity(unchecked) @usableFromInline var keeper: Unmanaged<AnyCancellable>?

      @inlinable
      init(
        receiveValue: @escaping (Input) -> Void,
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void
      ) {
        self.receiveValue = receiveValue
        self.receiveCompletion = receiveCompletion
      }
    }

    /// What is known of a sink at a glance: two bits.
    @usableFromInline
    enum Standing {
      /// Whether the closures go with the sink, not before; never for a sink that its maker may keep.
      @inlinable static var entrusted: UInt8 { 1 }
      /// Whether the sink was cancelled or has ended.
      @inlinable static var over: UInt8 { 2 }
    }

    // Whether a value is in the closure, and whether the sink is over. Who delivers sets the first and then reads the
    // second, who ends sets the second and then reads the first, all in one order: so the closures are released while
    // no value is inside, and a value inside needs no retain.
    @usableFromInline let isDelivering = Atomic<Bool>(false)
    @usableFromInline let standing = Atomic<UInt8>(0)
    @usableFromInline let isMadeToBeLetGo: Bool
    @usableFromInline let lock = Lock()
    // Holds one reference, given up in `release()` or `deinit`. Taken out under `lock`.
    @exclusivity(unchecked) @usableFromInline var handlers: Unmanaged<Handlers>?
    // Guarded by `lock`.
    @exclusivity(unchecked) @usableFromInline var upstream: (any Subscription)?

    /// Makes a sink of two closures.
    @inlinable @inline(__always)
    public init(
      receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
      receiveValue: @escaping ((Input) -> Void)
    ) {
      handlers = .passRetained(Handlers(receiveValue: receiveValue, receiveCompletion: receiveCompletion))
      isMadeToBeLetGo = false
    }

    /// Makes a sink that only its chain keeps, and the handle that stops it.
    @inlinable @inline(__always)
    init(
      stoppedByHandle receiveCompletion: @escaping ((Subscribers.Completion<Failure>) -> Void),
      receiveValue: @escaping ((Input) -> Void)
    ) {
      handlers = .passRetained(Handlers(receiveValue: receiveValue, receiveCompletion: receiveCompletion))
      isMadeToBeLetGo = true
    }

    deinit { handlers?.release() }

    /// The closure that takes values; an empty one once the sink is over.
    public var receiveValue: (Input) -> Void { retainedHandlers?.receiveValue ?? { _ in } }

    /// The closure that takes the end; an empty one once the sink is over.
    public var receiveCompletion: (Subscribers.Completion<Failure>) -> Void {
      retainedHandlers?.receiveCompletion ?? { _ in }
    }

    /// Keeps the subscription and asks for everything; cancels a second one, or one that comes too late.
    @inlinable
    public func receive(subscription: any Subscription) {
      if hold(subscription) { subscription.request(.unlimited) } else { subscription.cancel() }
    }

    /// Runs the closure for values, on the thread that sends.
    @inlinable @inline(__always)
    public func receive(_ value: Input) -> Subscribers.Demand {
      if standing.load(ordering: .acquiring) == Standing.entrusted {
        // Nobody releases the closures before the sink goes, and whoever delivers keeps that.
        handlers?._withUnsafeGuaranteedRef { $0.receiveValue(value) }
        return .none
      }
      return receiveWithCare(value)
    }

    /// Runs the closure for the end, once, and releases both closures and the subscription.
    @inlinable
    public func receive(completion: Subscribers.Completion<Failure>) {
      guard !markOver() else { return }
      lock.lock()
      // The subscription is over; keeping it would keep what it holds.
      let upstream = upstream
      self.upstream = nil
      let idle = takeIdleHandlers()
      // What the closures captured may run code of its own when it goes: here, outside the lock.
      let ending = idle?.takeRetainedValue() ?? handlers?.takeUnretainedValue()
      lock.unlock()
      ending?.receiveCompletion(completion)
      if idle == nil { releaseIfIdle() }
      withExtendedLifetime(upstream) {}
    }

    /// Cancels the subscription and releases it and both closures; without a subscription it does nothing.
    @inlinable
    public func cancel() {
      // After the end there is nothing left to do, except for a handle that goes.
      if standing.load(ordering: .acquiring) == Standing.over { return }
      lock.lock()
      handlers?._withUnsafeGuaranteedRef { $0.keeper = nil }
      guard let subscription = upstream else {
        lock.unlock()
        return
      }
      upstream = nil
      _ = markOver()
      let idle = takeIdleHandlers()
      lock.unlock()
      subscription.cancel()
      // Outside the lock, as above.
      idle?.release()
    }

    /// Always `Sink`.
    public var description: String { "Sink" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
    /// Always `Sink`.
    public var playgroundDescription: Any { description }
  }
}

extension Subscribers.Sink {
  @inlinable
  var isOver: Bool { standing.load(ordering: .sequentiallyConsistent) & Standing.over != 0 }

  @inlinable
  var isEntrusted: Bool { standing.load(ordering: .acquiring) & Standing.entrusted != 0 }

  /// Notes the end; says whether it had come before.
  @inlinable
  func markOver() -> Bool {
    standing.bitwiseOr(Standing.over, ordering: .sequentiallyConsistent).oldValue & Standing.over != 0
  }

  /// Takes a value if nobody promises to let go of the sink in time, or after the end.
  @inlinable @inline(__always)
  func receiveWithCare(_ value: Input) -> Subscribers.Demand {
    if isEntrusted { return .none }
    guard !isDelivering.exchange(true, ordering: .sequentiallyConsistent) else { return receiveInside(value) }
    if !isOver { handlers?._withUnsafeGuaranteedRef { $0.receiveValue(value) } }
    isDelivering.store(false, ordering: .releasing)
    if standing.load(ordering: .acquiring) & Standing.over != 0 { release() }
    return .none
  }

  /// Takes a value that comes while another is in the closure.
  ///
  /// It was sent from inside, or by an upstream that breaks the rule of one at a time; so what it needs is retained.
  @inlinable
  func receiveInside(_ value: Input) -> Subscribers.Demand {
    if !isOver { retainedHandlers?.receiveValue(value) }
    return .none
  }

  @inlinable
  var retainedHandlers: Handlers? {
    lock.lock()
    defer { lock.unlock() }
    return handlers?.takeUnretainedValue()
  }

  @inlinable
  func hold(_ subscription: any Subscription) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard upstream == nil, !isOver else { return false }
    upstream = subscription
    return true
  }

  /// Takes the closures out, except if a value is inside, whose deliverer does it then, or if they go with the sink.
  ///
  /// Called under the lock, after the end.
  @inlinable
  func takeIdleHandlers() -> Unmanaged<Handlers>? {
    if isDelivering.load(ordering: .sequentiallyConsistent) || isEntrusted { return nil }
    let taken = handlers
    handlers = nil
    return taken
  }

  @inlinable
  func releaseIfIdle() {
    if !isDelivering.load(ordering: .sequentiallyConsistent) { release() }
  }

  /// Lets the closures go, or the sink itself if it is entrusted.
  ///
  /// What they captured may run code of its own, so not under the lock.
  @inlinable
  func release() {
    lock.lock()
    guard !isEntrusted else {
      let kept = handlers?._withUnsafeGuaranteedRef { handlers in
        let keeper = handlers.keeper
        handlers.keeper = nil
        return keeper?.takeUnretainedValue().activity.exchange(nil, ordering: .acquiringAndReleasing)
      }
      lock.unlock()
      kept?.release()
      return
    }
    let released = handlers
    handlers = nil
    lock.unlock()
    released?.release()
  }
}

extension Subscribers.Sink: Entrusted {
  @inlinable
  func entrust() {
    if isMadeToBeLetGo { standing.bitwiseOr(Standing.entrusted, ordering: .acquiringAndReleasing) }
  }

  /// Lets this go as soon as the end has come, though the handle may be kept on.
  @inlinable
  func beLetGo(by handle: AnyCancellable) {
    lock.lock()
    let isTooLate = isOver
    if !isTooLate { handlers?._withUnsafeGuaranteedRef { $0.keeper = .passUnretained(handle) } }
    lock.unlock()
    if isTooLate { handle.activity.exchange(nil, ordering: .acquiringAndReleasing)?.release() }
  }

  /// The handle that stops this, made after it was subscribed.
  @inlinable @inline(__always)
  var handle: AnyCancellable {
    let handle = AnyCancellable(stopping: self)
    if isEntrusted { beLetGo(by: handle) }
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
    subscribe(sink)
    return sink.handle
  }
}

extension Publisher where Failure == Never {
  /// Asks for everything and runs a closure for each value.
  ///
  /// - Returns: a handle that ends the subscription when it is cancelled or released. Keep it.
  @inlinable @inline(__always)
  public func sink(receiveValue: @escaping ((Output) -> Void)) -> AnyCancellable {
    let sink = Subscribers.Sink<Output, Never>(stoppedByHandle: { _ in }, receiveValue: receiveValue)
    subscribe(sink)
    return sink.handle
  }
}
