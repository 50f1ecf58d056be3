import StreamSupport

extension Publisher {
  /// Keeps values that were not asked for yet.
  ///
  /// - Parameters:
  ///   - size: how many values are kept at most, not negative. A value that was asked for, and is sent from inside of the one
  ///     before it, does not count.
  ///   - prefetch: how the upstream is asked.
  ///   - whenFull: what happens to a value that does not fit.
  /// - Demand: not passed on; see `prefetch`. The normal end comes after the last value kept, upon one request more.
  /// - Failure: passes at once, and values kept are lost.
  /// - Threads: values come where the upstream sends, or where they are asked for; never two events at once.
  /// - Complexity: O(1) for each value, amortised; O(`size`) for one that takes the place of the oldest while values that were
  ///   asked for wait in front of that.
  @inlinable @inline(__always)
  public func buffer(
    size: Int,
    prefetch: Publishers.PrefetchStrategy,
    whenFull: Publishers.BufferingStrategy<Failure>
  ) -> Publishers.Buffer<Self> {
    Publishers.Buffer(upstream: self, size: size, prefetch: prefetch, whenFull: whenFull)
  }
}

extension Publishers {
  /// How a buffer asks its upstream for values.
  public enum PrefetchStrategy: Hashable {
    /// For as many as fit into it, and for one more for each that leaves it.
    case keepFull

    /// For everything at once.
    case byRequest
  }

  /// What a buffer does with a value that does not fit.
  public enum BufferingStrategy<Failure: Error> {
    /// Drops it.
    case dropNewest

    /// Drops the oldest value that it keeps and nobody has asked for yet, and keeps the new one; where everything is asked
    /// for, and another thread sends than the one that delivers, the oldest.
    case dropOldest

    /// Cancels the upstream, and fails once the values kept, or those asked for by then, have been published.
    case customError(() -> Failure)
  }

  /// A publisher that keeps upstream values until they are asked for.
  public struct Buffer<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the strategy for a full buffer says.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// How many values are kept at most.
    public let size: Int

    /// How the upstream is asked.
    public let prefetch: Publishers.PrefetchStrategy

    /// What happens to a value that does not fit.
    public let whenFull: Publishers.BufferingStrategy<Upstream.Failure>

    /// Makes a publisher that keeps values of another.
    ///
    /// - Parameters:
    ///   - upstream: the publisher of the values.
    ///   - size: how many values are kept at most, not negative.
    ///   - prefetch: how the upstream is asked.
    ///   - whenFull: what happens to a value that does not fit.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      size: Int,
      prefetch: Publishers.PrefetchStrategy,
      whenFull: Publishers.BufferingStrategy<Upstream.Failure>
    ) {
      // What the caller must keep: a buffer can't hold fewer values than none.
      precondition(size >= 0, "Combine: 'Buffer' can't hold \(size) values. Use a size of zero or more.")
      self.upstream = upstream
      self.size = size
      self.prefetch = prefetch
      self.whenFull = whenFull
    }

    /// Attaches a subscriber to the upstream, with a buffer of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(BufferSubscriber(size, prefetch, whenFull, to: subscriber))
    }
  }
}

/// Keeps values, and delivers them while something is owed: one drain at a time, whoever started it.
@usableFromInline
final class BufferSubscriber<Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  /// How the stream will end.
  @usableFromInline
  enum Terminal {
    case finished
    /// The upstream failed: that goes before the values.
    case failed(Failure)
    /// The buffer overflowed: that goes behind the values that are owed.
    case overflowed(Failure)
  }

  /// What a drain does next.
  @usableFromInline
  enum Next {
    case deliver(Input)
    /// The end; the values left are let go outside the lock.
    case end(Subscribers.Completion<Failure>, left: Queue<Input>)
    case pause
  }

  @usableFromInline let size: Int
  @usableFromInline let prefetch: Publishers.PrefetchStrategy
  @usableFromInline let whenFull: Publishers.BufferingStrategy<Failure>
  @usableFromInline let downstream: Downstream

  // All guarded by `lock`; no foreign code runs while they change. The first drain is under way until downstream has
  // its subscription, so that nothing gets ahead of that.
  @exclusivity(unchecked) @usableFromInline var values = Queue<Input>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var terminal: Terminal?
  @exclusivity(unchecked) @usableFromInline var loop = DrainLoop(isEntered: true)
  @exclusivity(unchecked) @usableFromInline var drainingThread: UInt = 0
  @exclusivity(unchecked) @usableFromInline var isDone = false

  @inlinable
  init(
    _ size: Int,
    _ prefetch: Publishers.PrefetchStrategy,
    _ whenFull: Publishers.BufferingStrategy<Failure>,
    to downstream: Downstream
  ) {
    self.size = size
    self.prefetch = prefetch
    self.whenFull = whenFull
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    switch prefetch {
    // A request for nothing is an error for many publishers.
    case .keepFull: if size > 0 { subscription.request(.max(size)) }
    case .byRequest: subscription.request(.unlimited)
    }
    lock.lock()
    drainingThread = currentThread()
    lock.unlock()
    downstream.receive(subscription: self)
    replace(drain())
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard !isWaiting else { return .none }
    lock.lock()
    guard !isDone, isTakingValues else {
      lock.unlock()
      return .none
    }
    // Kept in the same breath: a drain that is under way then sees it before it ends.
    guard demand > .none, beginDrain() else { return keepAndUnlock(input) }
    demand -= 1
    lock.unlock()
    addDemand(downstream.receive(input))
    let delivered = 1 + drain()
    return prefetch == .keepFull && isHolding ? .max(delivered) : .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    switch completion {
    case .finished: terminate(.finished)
    case .failure(let error): terminate(.failed(error))
    }
  }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    lock.lock()
    self.demand += demand
    let begins = beginDrain()
    lock.unlock()
    if begins { replace(drain()) }
  }

  @inlinable
  override func cancel() {
    guard !isWaiting else { return }
    lock.lock()
    isDone = true
    let left = values
    values = Queue()
    lock.unlock()
    withExtendedLifetime(left) {}
    end()?.cancel()
  }

  /// Whether values are kept still: as with Apple's, after a normal end of the upstream, too.
  ///
  /// Read under `lock`.
  @inlinable
  var isTakingValues: Bool {
    switch terminal {
    case nil, .finished: true
    case .failed, .overflowed: false
    }
  }

  /// Called under `lock`.
  @inlinable @inline(__always)
  func beginDrain() -> Bool {
    guard loop.enter() else { return false }
    drainingThread = currentThread()
    return true
  }

  /// Called under `lock`, which it opens.
  @inlinable
  func keepAndUnlock(_ input: Input) -> Subscribers.Demand {
    // What is owed, and waits only for the drain that is under way, takes no room. Where everything is owed that holds for
    // what comes from inside of the drain: another thread may be faster than it for ever.
    let isOwed = demand > values.count - size && (demand != .unlimited || drainingThread == currentThread())
    if values.count < size || isOwed {
      values.append(input)
      lock.unlock()
      return .none
    }
    switch whenFull {
    case .dropNewest:
      lock.unlock()
    case .dropOldest:
      // What is owed is as good as delivered: the oldest that nobody has asked for goes.
      let oldest = values.remove(at: demand.max ?? 0)
      if oldest != nil { values.append(input) }
      lock.unlock()
      withExtendedLifetime(oldest) {}
    case .customError(let makeError):
      lock.unlock()
      overflow(makeError())
    }
    return .none
  }

  @inlinable
  func overflow(_ error: Failure) {
    guard let upstream = end() else { return }
    upstream.cancel()
    terminate(.overflowed(error))
  }

  /// Notes how the stream will end, and ends it now if nothing stands before that.
  @inlinable
  func terminate(_ terminal: Terminal) {
    lock.lock()
    self.terminal = terminal
    let mayWait = if case .overflowed = terminal { !values.isEmpty } else { false }
    let begins = !mayWait && beginDrain()
    lock.unlock()
    if begins { _ = drain() }
  }

  @inlinable
  func addDemand(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    lock.lock()
    self.demand += demand
    lock.unlock()
  }

  /// Delivers what is owed and kept; says how much it was.
  ///
  /// Called by who has entered the loop.
  @inlinable
  func drain() -> Int {
    var delivered = 0
    while true {
      switch next() {
      case .deliver(let value):
        delivered += 1
        addDemand(downstream.receive(value))
      case .end(let completion, _):
        downstream.receive(completion: completion)
        return delivered
      case .pause:
        return delivered
      }
    }
  }

  @inlinable
  func next() -> Next {
    lock.lock()
    defer { lock.unlock() }
    if isDone {
      loop.leave()
      return .pause
    }
    if case .failed(let error) = terminal { return conclude(.failure(error)) }
    if demand > .none, let value = values.popFirst() {
      demand -= 1
      return .deliver(value)
    }
    switch terminal {
    case .finished where demand > .none: return conclude(.finished)
    case .overflowed(let error): return conclude(.failure(error))
    default:
      loop.leave()
      return .pause
    }
  }

  /// Called under `lock`.
  @inlinable
  func conclude(_ completion: Subscribers.Completion<Failure>) -> Next {
    isDone = true
    loop.leave()
    let left = values
    values = Queue()
    return .end(completion, left: left)
  }

  /// Asks for as many values as have left the buffer.
  @inlinable
  func replace(_ delivered: Int) {
    if prefetch == .keepFull, delivered > 0 { held?.request(.max(delivered)) }
  }

  @usableFromInline override var name: String { "Buffer" }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    lock.lock()
    let (values, demand, terminal) = (self.values, self.demand, self.terminal)
    lock.unlock()
    return [
      ("values", values.elements), ("state", status), ("downstreamDemand", demand), ("terminal", terminal as Any),
    ]
  }
}
