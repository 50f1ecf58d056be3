import Combine

/// The stage of a ``Pipeline`` that delivers what a ``Cache`` keeps, and keeps what is fetched.
///
///     CacheFirst(forecasts, for: city)
///
/// It belongs outside of all that makes calls. The key is that of one call, so a pipeline with this stage is made for each
/// key; the cache, and whatever else is shared, is made once.
public struct CacheFirst<Key: Hashable & Sendable, Output: Sendable>: Sendable {
  private let cache: Cache<Key, Output, any Error>
  private let key: Key

  /// Delivers what is kept for a key.
  ///
  /// - Parameters:
  ///   - cache: Shared by all that ask for such values.
  ///   - key: What is asked for.
  public init(_ cache: Cache<Key, Output, any Error>, for key: Key) {
    self.cache = cache
    self.key = key
  }
}

extension CacheFirst: StageWork {
  var traits: StageTraits {
    StageTraits(
      descriptor: StageDescriptor(.cache, parameters: [.init("key", "\(key)")]),
      sharedObject: ObjectIdentifier(cache)
    )
  }

  func register(with events: PolicyEvents, pipeline: String) {
    events.watch(cache, named: pipeline)
  }

  func protect<Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream.cached(in: cache, for: key).map(\.value).eraseToAnyPublisher()
  }

  func protect<C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    { try await cache.value(for: key, isolation: nil, call).value }
  }
}
