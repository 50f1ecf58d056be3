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

extension CacheFirst: PipelineStage {
  /// What it is.
  public var traits: [StageTraits] {
    let descriptor = StageDescriptor(.cache, parameters: [.init("key", "\(key)")])
    var traits = StageTraits(descriptor: descriptor, sharedObject: cache)
    traits.sharesCalls = true
    return [traits]
  }

  /// Lets what is shared be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    events?.watch(cache, named: pipeline)
  }

  /// Runs a call under it.
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    try await cache.value(for: key, time: execution.time) { try await call() }.value
  }

  /// Subscribes to a publisher under it.
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    upstream.cached(in: cache, for: key, time: upstream.surroundings.time).map(\.value).receive(subscriber: downstream)
  }
}
