import Synchronization

extension Publisher {
  /// Publishes values in arrays of a given length; the last may be shorter.
  ///
  /// - Parameter count: the length of the arrays, at least 1.
  /// - Demand: for each array asked for, as many values are asked for as it holds. A shorter last array comes unasked.
  /// - Failure: passes as it is; values not yet published are lost.
  /// - Threads: arrays come where the upstream sends.
  /// - Complexity: O(1) for each value, amortised; one allocation for each array, from the second on.
  @inlinable @inline(__always)
  public func collect(_ count: Int) -> Publishers.CollectByCount<Self> {
    Publishers.CollectByCount(upstream: self, count: count)
  }
}

extension Publishers {
  /// A publisher of the upstream values in arrays of a given length.
  public struct CollectByCount<Upstream: Publisher>: Publisher {
    /// Some values in their order.
    public typealias Output = [Upstream.Output]
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to collect.
    public let upstream: Upstream

    /// The length of the arrays.
    public let count: Int

    /// Makes a publisher that collects the values of another.
    ///
    /// - Parameters:
    ///   - upstream: the publisher of the values to collect.
    ///   - count: the length of the arrays, at least 1.
    @inlinable @inline(__always)
    public init(upstream: Upstream, count: Int) {
      // What the caller must keep: arrays of no values would never end.
      precondition(count > 0, "Combine: 'CollectByCount' can't make arrays of \(count) values. Use a count above zero.")
      self.upstream = upstream
      self.count = count
    }

    /// Attaches a subscriber to the upstream, with an array of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, S.Input == [Upstream.Output] {
      upstream.subscribe(CollectByCountSubscriber<Upstream.Output, S>(count, to: subscriber))
    }
  }
}

extension Publishers.CollectByCount: Equatable where Upstream: Equatable {}

/// Fills an array, and passes it on when it is full or the upstream finishes.
@usableFromInline
final class CollectByCountSubscriber<Input, Downstream: Subscriber>: UpstreamSubscription, Subscriber
where Downstream.Input == [Input] {
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let count: Int
  // Set by whoever touches the buffer: the one upstream that sends, and a cancel. No foreign code runs meanwhile.
  @usableFromInline let isBusy = Atomic<Bool>(false)
  @exclusivity(unchecked) @usableFromInline var buffer: [Input] = []
  // How much room an array is made with: all it needs, once one was full. Before that the upstream may never send so much.
  @exclusivity(unchecked) @usableFromInline var capacity: Int

  @inlinable
  init(_ count: Int, to downstream: Downstream) {
    self.count = count
    self.downstream = downstream
    capacity = min(count, Self.firstCapacity)
    super.init()
  }

  @inlinable static var firstCapacity: Int { 16 }

  @inlinable
  func receive(subscription: any Subscription) {
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard let full = keep(input) else { return .none }
    return downstream.receive(full) * count
  }

  /// Keeps a value, and gives the array if it is full.
  @inlinable @inline(__always)
  func keep(_ input: Input) -> [Input]? {
    // Who is there already is a cancel, for upstream sends one value at a time.
    guard !isBusy.exchange(true, ordering: .acquiring) else { return nil }
    guard isHolding else {
      isBusy.store(false, ordering: .releasing)
      return nil
    }
    if buffer.isEmpty { buffer.reserveCapacity(capacity) }
    buffer.append(input)
    guard buffer.count >= count else {
      isBusy.store(false, ordering: .releasing)
      if !isHolding { dropBuffer() }
      return nil
    }
    var full: [Input] = []
    swap(&full, &buffer)
    capacity = count
    isBusy.store(false, ordering: .releasing)
    return full
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    _ = end()
    // Nothing is left after a cancel.
    let rest = takeBuffer()
    if case .finished = completion, !rest.isEmpty { _ = downstream.receive(rest) }
    // As with Apple's, the end passes whether a subscription was held or not.
    downstream.receive(completion: completion)
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    held?.request(demand * count)
  }

  @usableFromInline
  override func cancel() {
    super.cancel()
    dropBuffer()
  }

  /// Lets go of what is kept, unless a value is just coming in, which then does so.
  @usableFromInline
  func dropBuffer() {
    withExtendedLifetime(takeBuffer()) {}
  }

  /// Takes out what is kept; nothing while another does so.
  @usableFromInline
  func takeBuffer() -> [Input] {
    guard !isBusy.exchange(true, ordering: .acquiring) else { return [] }
    let taken = buffer
    buffer = []
    isBusy.store(false, ordering: .releasing)
    return taken
  }

  @usableFromInline override var name: String { "CollectByCount" }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    [("downstream", downstream), ("upstreamSubscription", held as Any), ("buffer", buffer), ("count", count)]
  }
}
