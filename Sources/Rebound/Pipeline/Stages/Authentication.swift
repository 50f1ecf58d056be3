import Combine

/// The stage of a ``Pipeline`` that sees to a credential before the call, and has it renewed once if the server refuses it.
///
///     Authentication(by: session) { ($0 as? NetworkFailure)?.status == 401 }
///
/// It belongs between the retry and the breaker: a refused credential is not worth a pause, and no sign of a sick service.
/// The call takes the credential from ``TokenRefresher/credential`` when it is made.
public struct Authentication<Credential: Sendable>: Sendable {
  private let refresher: TokenRefresher<Credential>
  private let isUnauthorised: @Sendable (any Error) -> Bool

  /// Sees to a credential.
  ///
  /// - Parameters:
  ///   - refresher: Has the credential, and renews it.
  ///   - isUnauthorised: Which errors say that the server refuses the credential.
  public init(
    by refresher: TokenRefresher<Credential>,
    when isUnauthorised: @escaping @Sendable (any Error) -> Bool
  ) {
    self.refresher = refresher
    self.isUnauthorised = isUnauthorised
  }
}

extension Authentication: AnyValueStageWork {
  var traits: StageTraits {
    StageTraits(descriptor: StageDescriptor(.authentication), sharedObject: ObjectIdentifier(refresher))
  }

  func register(with events: PolicyEvents, pipeline: String) {
    events.watch(refresher, named: pipeline)
  }

  func protect<Output: Sendable, Context: Scheduler>(
    _ upstream: AnyPublisher<Output, any Error>,
    in surroundings: StageSurroundings,
    on waiting: StageScheduler<Context>
  ) -> AnyPublisher<Output, any Error> {
    refresher.authenticated(when: isUnauthorised) { _ in upstream }.eraseToAnyPublisher()
  }

  func protect<Output: Sendable, C: Clock>(
    _ call: @escaping @Sendable () async throws -> Output,
    in surroundings: StageSurroundings,
    clock: C
  ) -> @Sendable () async throws -> Output where C.Duration == Duration {
    { try await refresher.run(when: isUnauthorised, isolation: nil) { _ in try await call() } }
  }
}
