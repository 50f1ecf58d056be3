import Combine

/// The stage of a ``Pipeline`` that sees to a credential before the call, and has it renewed once if the server refuses it.
///
///     Authentication(by: session) { ($0 as? NetworkFailure)?.status == 401 }
///
/// It belongs between the retry and the breaker: a refused credential is not worth a pause, and no sign of a sick service.
/// The call takes the credential from ``TokenRefresher/credential`` when it is made.
public struct Authentication<Credential: Sendable>: Sendable {
  let refresher: TokenRefresher<Credential>
  let isUnauthorised: @Sendable (any Error) -> Bool

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

/// The stage that sees to a credential.
public struct AuthenticationStage<Credential: Sendable, Output: Sendable>: PipelineStage {
  let authentication: Authentication<Credential>

  /// What it is.
  public var traits: [StageTraits] {
    [StageTraits(descriptor: StageDescriptor(.authentication), sharedObject: authentication.refresher)]
  }

  /// Lets the decisions about the credential be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    events?.watch(authentication.refresher, named: pipeline)
  }

  /// Runs a call under it.
  public func run(
    _ execution: ExecutionContext,
    _ operation: @escaping @Sendable () async throws -> Output
  ) async throws -> Output {
    try await authentication.refresher.run(when: authentication.isUnauthorised, isolation: nil) { _ in
      try await operation()
    }
  }

  /// Subscribes to a publisher under it.
  public func subscribe<Upstream: Publisher, Downstream: Subscriber>(
    _ downstream: Downstream,
    to upstream: Upstream,
    _ surroundings: StageSurroundings
  )
  where
    Upstream.Output == Output, Upstream.Failure == any Error, Downstream.Input == Output,
    Downstream.Failure == any Error
  {
    authentication.refresher.authenticated(when: authentication.isUnauthorised) { _ in upstream }
      .receive(subscriber: downstream)
  }
}
