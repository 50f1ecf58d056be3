extension Publisher {
  /// Publishes the first values, and finishes right after the last of them.
  ///
  /// - Parameter maxLength: how many values, not negative; with 0 the stream finishes at the subscription.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends.
  @inlinable @inline(__always)
  public func prefix(_ maxLength: Int) -> Publishers.Output<Self> {
    guard maxLength >= 0 else { refuseOutput(number: maxLength) }
    return Publishers.Output(upstream: self, range: 0..<maxLength)
  }

  /// Publishes one value by its number, and finishes right after it.
  ///
  /// - Parameter index: the number, counted from 0, less than `Int.max`.
  /// - Demand: passes as it is; each value before asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends.
  @inlinable @inline(__always)
  public func output(at index: Int) -> Publishers.Output<Self> {
    guard (0..<Int.max).contains(index) else { refuseOutput(number: index) }
    return Publishers.Output(upstream: self, range: index..<index + 1)
  }

  /// Publishes values by their numbers, and finishes right after the last of them.
  ///
  /// - Parameter range: the numbers, counted from 0, not negative; of an open range `Int.max - 1` is the last.
  /// - Demand: passes as it is; each value before the range asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends.
  @inlinable @inline(__always)
  public func output<R>(in range: R) -> Publishers.Output<Self> where R: RangeExpression, R.Bound == Int {
    Publishers.Output(upstream: self, range: range.relative(to: 0..<Int.max))
  }
}

extension Publishers {
  /// A publisher of the upstream values whose numbers are in a range.
  public struct Output<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to choose from.
    public let upstream: Upstream

    /// The numbers of the values to publish, counted from 0.
    public let range: Range<Int>

    /// Makes a publisher of some values of another.
    ///
    /// - Parameters:
    ///   - upstream: the publisher of the values to choose from.
    ///   - range: the numbers of the values, which must not be negative.
    @inlinable @inline(__always)
    public init(upstream: Upstream, range: Range<Int>) {
      if range.lowerBound < 0 { refuseOutput(number: range.lowerBound) }
      self.upstream = upstream
      self.range = range
    }

    /// Attaches a subscriber to the upstream, with a count of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(OutputSubscriber(range, to: subscriber))
    }
  }
}

extension Publishers.Output: Equatable where Upstream: Equatable {}

/// Stops the process, as Apple's Combine does, when a program asks for values by numbers that no value has.
@usableFromInline
func refuseOutput(number: Int) -> Never {
  violation("Output", "was asked for values by the number \(number)", advice: "Use numbers from 0 to Int.max - 1.")
}

/// Counts values: skips some, passes some, then ends.
///
/// Like Apple's, it does not look at its state before it takes a value; only the counts decide.
@usableFromInline
final class OutputSubscriber<Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  // Both are read and written whole, by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var countToSkip: Int
  @exclusivity(unchecked) @usableFromInline var countToPass: Int

  @inlinable
  init(_ range: Range<Int>, to downstream: Downstream) {
    countToSkip = range.lowerBound
    countToPass = range.count
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    // Read now: as soon as downstream has its subscription, values on another thread may count.
    let isEmpty = countToPass == 0
    guard hold(subscription) else { return }
    downstream.receive(subscription: self)
    if isEmpty { finish() }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard countToPass > 0 else { return .none }
    guard countToSkip == 0 else {
      countToSkip &-= 1
      return .max(1)
    }
    // Counted before it is delivered: the subscriber may cause the next value from inside.
    countToPass &-= 1
    let more = downstream.receive(input)
    if countToPass == 0 { finish() }
    return more
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    downstream.receive(completion: completion)
  }

  @inlinable
  func finish() {
    guard let upstream = end() else { return }
    upstream.cancel()
    downstream.receive(completion: .finished)
  }

  @usableFromInline override var name: String { "Output" }
}
