import Combine

extension Publisher {
  /// Delivers what is kept for a key, or subscribes and keeps the first value.
  ///
  ///     client.forecast(for: city).cached(in: forecasts, for: city)
  ///       .map { Screen($0.value, isSavedCopy: $0.isStale, age: $0.age) }
  ///
  /// One value is delivered, and then the finish. After a stale value that is delivered while a new one is fetched, the
  /// new one is for the next subscriber; the fetch goes on whether or not anyone is subscribed.
  ///
  /// - Parameters:
  ///   - cache: Shared by all that ask for such values.
  ///   - key: What is asked for. Publishers of one key must be interchangeable.
  ///   - time: Measures ages.
  ///
  /// - Demand: The upstream is asked for one value, once someone wants it. What is kept waits for a request.
  /// - Failure: The upstream's, if nothing is kept that is good for this case.
  /// - Threads: What is kept comes at once, on the thread of the request; a new value where the upstream sends.
  public func cached<Key>(
    in cache: Cache<Key, Output, Failure>,
    for key: Key,
    time: TimeSource = .current
  ) -> Publishers.CachedValue<Self, Key> {
    Publishers.CachedValue(upstream: self, cache: cache, key: key, time: time)
  }
}

extension Publishers {
  /// Delivers what is kept for a key, or subscribes and keeps the first value.
  ///
  /// Made by ``Combine/Publisher/cached(in:for:time:)``.
  public struct CachedValue<Upstream: Publisher, Key: Hashable & Sendable>: Publisher {
    /// What the upstream publishes, and where it comes from.
    public typealias Output = Cached<Upstream.Output>
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    let upstream: Upstream
    let cache: Cache<Key, Upstream.Output, Upstream.Failure>
    let key: Key
    let time: TimeSource

    /// Looks into the cache, and subscribes to the upstream if need be.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      switch cache.look(key, at: time.now) {
      case .fresh(let value, let age):
        Result.Publisher(Cached(value: value, age: age, source: .cache(stale: nil))).receive(subscriber: subscriber)
      case .stale(let value, let age, let fetches):
        Result.Publisher(Cached(value: value, age: age, source: .cache(stale: .revalidating)))
          .receive(subscriber: subscriber)
        if fetches { cache.revalidate(key, upstream, on: time) }
      case .failed(let error):
        Fail(error: error).receive(subscriber: subscriber)
      case .missed:
        cache.fetch(key, upstream, on: time)
          .catch { [cache, key, time] error in cache.recover(key, from: error, at: time.now).publisher }
          .receive(subscriber: subscriber)
      }
    }
  }
}
