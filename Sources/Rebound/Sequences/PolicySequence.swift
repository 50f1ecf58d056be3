import Combine

/// An asynchronous sequence under policies.
///
///     let forecasts = client.forecasts(for: city)
///       .timeout(.betweenValues(.seconds(10)))
///       .retry(RetryPolicy(clamping: 3))
///     for try await forecast in forecasts { show(forecast) }
///
/// Made by the operators of asynchronous sequences, such as `retry(_:time:)`. They are those of publishers, with the same
/// decisions and events.
///
/// - Demand: One element is asked of the sequence below whenever one is awaited here, and none ahead.
/// - Failure: What the sequence throws, or what a policy puts in its place. Thrown once; then the sequence has ended.
/// - Cancellation: If the task that iterates is cancelled, or leaves the loop, the task of the sequence below is cancelled.
///   The cancelled loop ends without an error, as that over `values` of a publisher does.
/// - Threads: The sequence below runs in a task of its own for each attempt, on the global executor unless it says
///   otherwise.
public struct PolicySequence<Element: Sendable>: AsyncSequence, Sendable {
  /// Throws what the sequence below throws, or what a policy puts in its place.
  public typealias Failure = any Error
  typealias Stream = AnyPublisher<Element, any Error>

  fileprivate let begin: @Sendable () -> Stream

  init(_ begin: @escaping @Sendable () -> Stream) {
    self.begin = begin
  }

  /// Begins an execution of its own.
  public func makeAsyncIterator() -> Iterator {
    Iterator(values: begin().values.makeAsyncIterator())
  }

  /// Goes through the elements; ends the execution when it is released.
  public struct Iterator: AsyncIteratorProtocol {
    /// Throws what the sequence throws.
    public typealias Failure = any Error

    fileprivate var values: AsyncThrowingPublisher<Stream>.Iterator

    /// The next element; `nil` at the end, or if the task is cancelled.
    ///
    /// - Throws: What the sequence below throws, or what a policy puts in its place; once.
    public mutating func next() async throws -> Element? {
      try await values.next()
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// A publisher that iterates anew for each subscriber; for a sequence under policies, that of the policies.
  var attempts: AnyPublisher<Element, any Error> {
    if let sequence = self as? PolicySequence<Element> { return sequence.begin() }
    return Publishers.Elements(of: self).eraseToAnyPublisher()
  }
}
