extension Publisher {
  /// The values of this publisher, as a sequence for `for try await`.
  ///
  /// Each iterator has a subscription of its own, and asks for one value whenever one is awaited. Nothing is kept in
  /// between: what a subject or a timer sends while nobody waits is missed; use `buffer` before this if it must not be.
  /// Only of what a publisher sends without being asked, as `objectWillChange` does, the newest value is kept for the
  /// next time. Cancelling the task, or leaving the loop, cancels the subscription.
  public var values: AsyncThrowingPublisher<Self> { AsyncThrowingPublisher(self) }
}

/// The values of a publisher that may fail, as an asynchronous sequence.
public struct AsyncThrowingPublisher<P: Publisher>: AsyncSequence {
  /// The kind of values.
  public typealias Element = P.Output
  /// Throws what the publisher fails with.
  public typealias Failure = any Error
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
    /// Throws what the publisher fails with.
    public typealias Failure = any Error

    fileprivate let lease = AsyncSubscriberLease<P.Output, P.Failure>()

    /// The next value; nil at the end, or if the task is cancelled.
    ///
    /// - Throws: the failure of the publisher, once.
    public mutating func next() async throws -> P.Output? {
      try await lease.subscriber.next().get()
    }
  }
}
