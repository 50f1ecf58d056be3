extension Publisher where Failure == Never {
  /// The values of this publisher, as a sequence for `for await`.
  ///
  /// Each iterator has a subscription of its own, and asks for one value whenever one is awaited. Nothing is kept in
  /// between: what a subject or a timer sends while nobody waits is missed; use `buffer` before this if it must not be.
  /// Only of what a publisher sends without being asked, as `objectWillChange` does, the newest value is kept for the
  /// next time. Cancelling the task, or leaving the loop, cancels the subscription.
  public var values: AsyncPublisher<Self> { AsyncPublisher(self) }
}

/// The values of a publisher that can't fail, as an asynchronous sequence.
public struct AsyncPublisher<P: Publisher>: AsyncSequence where P.Failure == Never {
  /// The kind of values.
  public typealias Element = P.Output
  /// It can't fail.
  public typealias Failure = Never
  /// What goes through the values.
  public typealias AsyncIterator = Iterator

  private let publisher: P

  /// Makes a sequence of the values of a publisher.
  public init(_ publisher: P) {
    self.publisher = publisher
  }

  /// Subscribes to the publisher.
  public func makeAsyncIterator() -> Iterator {
    let iterator = Iterator()
    publisher.subscribe(iterator.lease.subscriber)
    return iterator
  }

  /// Goes through the values; cancels the subscription when it is released.
  public struct Iterator: AsyncIteratorProtocol {
    /// The kind of values.
    public typealias Element = P.Output
    /// It can't fail.
    public typealias Failure = Never

    fileprivate let lease = AsyncSubscriberLease<P.Output, Never>()

    /// The next value; nil at the end, or if the task is cancelled.
    public mutating func next() async -> P.Output? {
      await lease.subscriber.next().get()
    }
  }
}
