import Combine

/// The stage of a ``Pipeline`` that lets equal calls at the same time share one.
///
///     SingleFlight(by: forecasts, for: city)
///
/// The key is that of one call, so a pipeline with this stage is made for each key; the coalescer, and whatever else is
/// shared, is made once.
public struct SingleFlight<Key: Hashable & Sendable, Output: Sendable>: Sendable {
  private let coalescer: Coalescer<Key, Output, any Error>
  private let key: Key

  /// Joins what is in flight for a key.
  ///
  /// - Parameters:
  ///   - coalescer: Shared by all that may join each other.
  ///   - key: What is asked for.
  public init(by coalescer: Coalescer<Key, Output, any Error>, for key: Key) {
    self.coalescer = coalescer
    self.key = key
  }
}

extension SingleFlight: PipelineStage {
  /// What it is.
  public var traits: [StageTraits] {
    let descriptor = StageDescriptor(.coalescing, parameters: [.init("key", "\(key)")])
    var traits = StageTraits(descriptor: descriptor, sharedObject: coalescer)
    traits.sharesCalls = true
    return [traits]
  }

  /// Lets what is shared be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    events?.watch(coalescer, named: pipeline)
  }

  /// Runs a call under it.
  public nonisolated(nonsending) func run<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Output
  where Call.Output == Output, Call.Failure == any Error {
    try await coalescer.run(key) { try await call() }
  }

  /// Subscribes to a publisher under it.
  public func subscribe<Downstream: Subscriber>(_ downstream: Downstream, to upstream: StageUpstream<Output>)
  where Downstream.Input == Output, Downstream.Failure == any Error {
    upstream.coalesced(by: coalescer, for: key).receive(subscriber: downstream)
  }
}
