import StreamSupport

extension Publisher {
  /// Publishes a value of its own if the upstream finishes without one.
  ///
  /// - Demand: asks for everything, whatever the subscriber asks for; the replacement waits for a request.
  /// - Failure: passes as it is.
  /// - Threads: the replacement comes where the upstream finishes, or where it is then asked for.
  @inlinable @inline(__always)
  public func replaceEmpty(with output: Output) -> Publishers.ReplaceEmpty<Self> {
    Publishers.ReplaceEmpty(upstream: self, output: output)
  }
}

extension Publishers {
  /// A publisher of the upstream values, or of one of its own if there are none.
  public struct ReplaceEmpty<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The value to publish if the upstream finishes without one.
    public let output: Upstream.Output

    /// The publisher that may be empty.
    public let upstream: Upstream

    /// Makes a publisher that stands in for an empty one.
    @inlinable @inline(__always)
    public init(upstream: Upstream, output: Upstream.Output) {
      self.upstream = upstream
      self.output = output
    }

    /// Attaches a subscriber to the upstream, with the replacement at hand.
    @inlinable @inline(__always)
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let pipe = ReplaceEmptyPipe(with: output, to: subscriber)
      subscriber.receive(subscription: pipe)
      upstream.subscribe(pipe)
    }
  }
}

extension Publishers.ReplaceEmpty: Equatable where Upstream: Equatable, Upstream.Output: Equatable {}

/// Passes values on, and delivers a replacement at the end if there were none.
@usableFromInline
final class ReplaceEmptyPipe<Downstream: Subscriber>: Link, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline
  enum Outcome {
    /// Neither the end nor a request has come.
    case open
    /// A request has come.
    case requested
    /// The end has come first: the replacement waits for a request.
    case owing
    /// The replacement is being delivered.
    case replacing
    case over
  }

  @usableFromInline let output: Input
  @usableFromInline let downstream: Downstream
  // Written by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var isEmpty = true
  // Guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var outcome = Outcome.open

  @inlinable
  init(with output: Input, to downstream: Downstream) {
    self.output = output
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    if hold(subscription) { subscription.request(.unlimited) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    isEmpty = false
    return downstream.receive(input)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    guard isEmpty, case .finished = completion else {
      downstream.receive(completion: completion)
      return
    }
    lock.lock()
    let isWanted = outcome == .requested
    switch outcome {
    case .open: outcome = .owing
    case .requested: outcome = .replacing
    case .owing, .replacing, .over: break
    }
    lock.unlock()
    if isWanted { replace() }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    lock.lock()
    let isOwing = outcome == .owing
    switch outcome {
    case .open: outcome = .requested
    case .owing: outcome = .replacing
    case .requested, .replacing, .over: break
    }
    let upstream = upstream
    lock.unlock()
    if isOwing { replace() } else { upstream?.request(demand) }
  }

  @usableFromInline
  override func cancel() {
    lock.lock()
    outcome = .over
    lock.unlock()
    endForGood()?.cancel()
  }

  @inlinable
  func replace() {
    _ = downstream.receive(output)
    lock.lock()
    let isCancelled = outcome == .over
    outcome = .over
    lock.unlock()
    if !isCancelled { downstream.receive(completion: .finished) }
  }

  @usableFromInline override var name: String { "ReplaceEmpty" }
}
