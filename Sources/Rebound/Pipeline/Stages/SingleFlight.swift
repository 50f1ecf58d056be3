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

extension SingleFlight: StageWork {
  var traits: StageTraits {
    StageTraits(
      descriptor: StageDescriptor(.coalescing, parameters: [.init("key", "\(key)")]),
      sharedObject: ObjectIdentifier(coalescer)
    )
  }

  func register(with events: PolicyEvents, pipeline: String) {
    events.watch(coalescer, named: pipeline)
  }

  func protect<Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    upstream.coalesced(by: coalescer, for: key).eraseToAnyPublisher()
  }

  func protect<C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    { try await coalescer.run(key, isolation: nil, call) }
  }
}
