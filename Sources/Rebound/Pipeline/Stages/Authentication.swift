/// The stage of a ``Pipeline`` that sees to a credential before the call, and has it renewed once if the server refuses it.
///
///     Authentication(by: session) { ($0 as? NetworkFailure)?.status == 401 }
///
/// It belongs between the retry and the breaker: a refused credential is not worth a pause, and no sign of a sick service.
/// The call takes the credential from ``TokenRefresher/credential`` when it is made. One that has waited inside of this stage, as
/// in a limiter, or that a retry around it makes again, is made as whoever is signed in by then: where people take turns, cancel
/// their calls when they sign out.
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

extension Authentication: Policy {
  /// What it is.
  public var descriptor: StageDescriptor { StageDescriptor(.authentication) }

  /// One call must not ask the refresher twice, and is made again if its credential is refused.
  public var traits: StageTraits { policy.traits }

  /// Lets the decisions about the credential be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    events?.watch(refresher, named: pipeline)
  }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> AuthenticationPolicy<Credential, any Error>.Machine {
    policy.makeMachine(execution)
  }

  private var policy: AuthenticationPolicy<Credential, any Error> {
    AuthenticationPolicy(AuthenticatedCall(with: refresher, when: isUnauthorised))
  }
}
