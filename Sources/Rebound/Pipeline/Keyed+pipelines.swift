/// A pipeline for each host, tenant or whatever else calls are told apart by.
///
///     let pipelines = KeyedPipelines<String, Forecast>(pipelines: { host in
///       try Pipeline(host) { breakers[host]; Timeout(attempt: .seconds(3)) }
///     })
///     request.protected(by: try pipelines.pipeline(for: host))
///
/// See ``Keyed`` for how many are kept, and for how long.
public typealias KeyedPipelines<Key: Hashable & Sendable, Output: Sendable> =
  Keyed<Key, Result<Pipeline<Output>, any Error>>

extension Keyed {
  /// Makes an empty collection of pipelines.
  ///
  /// - Parameters:
  ///   - limit: How many are kept; under 1 counts as 1.
  ///   - make: Makes the pipeline for a key; what it throws is kept, and thrown to all who ask for the key.
  public convenience init<Output: Sendable>(
    limit: Int = 1_000,
    pipelines make: @escaping @Sendable (Key) throws -> Pipeline<Output>
  ) where Policy == Result<Pipeline<Output>, any Error> {
    self.init(limit: limit) { key in Result { try make(key) } }
  }

  /// The pipeline for a key, which is made if it is not there.
  ///
  /// - Throws: What the making of it has thrown, ``InvalidPipeline`` most likely.
  public func pipeline<Output: Sendable>(
    for key: Key
  ) throws -> Pipeline<Output> where Policy == Result<Pipeline<Output>, any Error> {
    try self[key].get()
  }
}
