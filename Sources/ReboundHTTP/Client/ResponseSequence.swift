import Combine
import Rebound

/// What a service sends bit by bit, for an asynchronous function: the pieces of a body, events, pages.
///
///     for try await chunk in client.chunkSequence(of: Prices()) { print(chunk.count) }
///
/// Made by ``WebAPIClient/chunkSequence(of:progress:)``, ``WebAPIClient/eventSequence(of:reconnecting:)`` and
/// ``RequestExecutor/pageSequence(of:next:)``. Each loop over it is a call of its own, which ends when the loop is left.
///
/// - Demand: One element is asked for whenever one is awaited, and none ahead: who takes long for one makes the server wait.
/// - Failure: Thrown once; then the sequence has ended. If the task is cancelled,
///   ``NetworkFailure/Kind-swift.enum/cancelled``, as from ``RequestExecutor/value(of:)``: who has read the half of a body must
///   not take it for the whole.
/// - Threads: It waits for no queue, whatever the client delivers on, and the function goes on where it was.
public struct ResponseSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// What it throws.
  public typealias Failure = NetworkFailure
  typealias Advance = () async throws(NetworkFailure) -> Element?

  private let begin: @Sendable () -> Advance

  /// - Parameter begin: Begins an execution, and gives what fetches one element of it after the other, and `nil` at its end.
  init(_ begin: @escaping @Sendable () -> Advance) {
    self.begin = begin
  }

  /// - Parameter publish: Makes what sends the elements, for each loop anew.
  init(of operation: String, _ publish: @escaping @Sendable () -> AnyPublisher<Element, NetworkFailure>) {
    self.init {
      var values = publish().values.makeAsyncIterator()
      return { () async throws(NetworkFailure) -> Element? in
        do {
          if let element = try await values.next() { return element }
        } catch {
          throw NetworkFailure(refusal: error)
        }
        if Task.isCancelled { throw NetworkFailure(.cancelled, call: .init(operation: operation)) }
        return nil
      }
    }
  }

  /// Begins an execution of its own.
  public func makeAsyncIterator() -> Iterator { Iterator(advance: begin()) }

  /// Goes through the elements; ends the execution when it is released.
  public struct Iterator: AsyncIteratorProtocol {
    /// What it throws.
    public typealias Failure = NetworkFailure

    /// `nil` once it has ended.
    fileprivate var advance: Advance?

    /// The next element; `nil` at the end.
    ///
    /// - Throws: The failure to get one, once; ``NetworkFailure/Kind-swift.enum/cancelled`` if the task is cancelled.
    public mutating func next() async throws(NetworkFailure) -> Element? {
      // Only an element leaves something to go on with.
      guard let advance = advance.take(), let element = try await advance() else { return nil }
      self.advance = advance
      return element
    }
  }
}
