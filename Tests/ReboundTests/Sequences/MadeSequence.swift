import Rebound

/// A sequence whose elements a closure makes, for each iterator anew.
struct MadeSequence<Element: Sendable>: AsyncSequence, Sendable {
  /// What each iterator was asked for: its number, and that of the element, from 1 on.
  let pulls = Log<[Int]>()
  private let iterators = Log<Void>()
  private let endings = AsyncStream<Void>.makeStream()
  private let element: @Sendable (_ iterator: Int, _ number: Int) async throws -> Element?

  init(_ element: @escaping @Sendable (_ iterator: Int, _ number: Int) async throws -> Element?) {
    self.element = element
  }

  var iteratorCount: Int { iterators.count }

  /// Returns when one more iterator has been released.
  func untilReleased() async {
    for await _ in endings.stream { return }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(sequence: self, number: iterators.number(()), lease: Lease(continuation: endings.continuation))
  }

  struct Iterator: AsyncIteratorProtocol {
    let sequence: MadeSequence
    let number: Int
    let lease: Lease
    var count = 0

    mutating func next() async throws -> Element? {
      count += 1
      sequence.pulls.write([number, count])
      return try await sequence.element(number, count)
    }
  }

  final class Lease: Sendable {
    private let continuation: AsyncStream<Void>.Continuation

    init(continuation: AsyncStream<Void>.Continuation) {
      self.continuation = continuation
    }

    deinit { continuation.yield() }
  }
}

extension AsyncSequence {
  /// All elements, and then what it has thrown, if anything.
  func gathered() async -> (elements: [Element], error: (any Error)?) {
    var elements: [Element] = []
    do {
      for try await element in self { elements.append(element) }
      return (elements, nil)
    } catch {
      return (elements, error)
    }
  }
}
