import Combine

extension Publisher where Output: Sendable, Failure == any Error {
  /// Subscribes once for a key: whoever comes with the same key gets the first value that the first one got.
  ///
  ///     shop.place(order).idempotent(by: orders, for: request.idempotencyKey)
  ///
  /// - Parameters:
  ///   - keys: Shared by all that may have the same keys.
  ///   - key: Names what is done; the same for each attempt to do it.
  ///
  /// - Demand: The keys are asked, and the upstream after them, once a value is wanted; it is asked for one value.
  /// - Failure: The upstream's, and ``IdempotencyKeyUnknown``.
  /// - Threads: Where the upstream sends, or the keys answer.
  public func idempotent(by keys: IdempotencyKeys<Output>, for key: String) -> AnyPublisher<Output, any Error> {
    Publishers.Asynchronous { try await keys.begin(key) }
      .flatMap { beginning -> AnyPublisher<Output, any Error> in
        switch beginning {
        case .answered(let value): return Result.Publisher(value).eraseToAnyPublisher()
        case .runs(let claim):
          return prefix(1)
            .handleEvents(
              receiveOutput: { claim?.store($0, lifetime: keys.lifetime) },
              receiveCompletion: { _ in claim?.giveUp() },
              receiveCancel: { claim?.giveUp() }
            )
            .eraseToAnyPublisher()
        }
      }
      .firstWhenRequested("Idempotent")
      .eraseToAnyPublisher()
  }
}
