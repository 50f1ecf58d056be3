import Combine
import Rebound

/// Sends requests with the user's credential, and renews it once for all when the server refuses it.
///
///     Authenticating(with: session) { headers, token in headers["Authorization"] = "Bearer \(token.accessToken)" }
///
/// A 401 is answered by one refresh, whatever the number of requests that got it, and each of them is sent once more. A
/// second 401 passes on. A server that refuses every credential is ``NetworkFailure/Kind-swift.enum/unauthorised`` each
/// time, also once the refresher has had enough of it and renews none any more. A request whose body can be read only once
/// is not sent again, nor is one that is not idempotent if a server has done it and a redirect has then led to the refusal,
/// and neither is one that says that it is not authenticated sent with a credential.
///
/// A request whose ``Request/baseURL`` is of another origin than the client's goes without a credential, unless that is one of
/// the client's ``WebAPIClient/trustedOrigins``.
///
/// The refresh itself must not go through this: give it a client without, or a request that is not authenticated.
public struct Authenticating<Credential: Sendable>: HTTPMiddleware, HandlingMiddleware {
  // Made where the type of the credential is known: code for any type of it takes twice as long.
  @usableFromInline let authenticate: @Sendable (HTTPRequest, AnswerSubscriber, RequestHandler) -> Void

  /// Makes the middleware.
  ///
  /// - Parameters:
  ///   - refresher: Holds the credential, and renews it; shared by all that use it.
  ///   - apply: Puts a credential into the header fields.
  @inlinable
  public init(
    with refresher: TokenRefresher<Credential>,
    _ apply: @escaping @Sendable (inout HTTPHeaders, Credential) -> Void
  ) {
    authenticate = { request, subscriber, next in
      refresher
        .authenticated(
          when: { request.mayBeRepeated(after: $0) },
          failingWith: { request.failure(refreshing: $0) },
          time: request.time
        ) { credential in
          next(request.withHeaders { apply(&$0, credential) })
        }
        .subscribe(subscriber)
    }
  }

  /// Inside the retries, so that each has the credential of the moment.
  public var place: MiddlewarePlace { .authentication }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    if request.isAuthenticated { authenticate(request, subscriber, next) } else { next.handle(request, subscriber) }
  }
}

extension HTTPRequest {
  /// The same with other header fields.
  ///
  /// Changed here, since what is changed in place from another module takes an allocation for each level.
  @usableFromInline
  func withHeaders(_ change: (inout HTTPHeaders) -> Void) -> HTTPRequest {
    var copy = self
    copy.change { change(&$0.message.headers) }
    return copy
  }

  /// Whether it may be sent once more with another credential.
  @usableFromInline
  func mayBeRepeated(after failure: NetworkFailure) -> Bool {
    failure.kind == .unauthorised && message.body.isReplayable && (isIdempotent || !failure.hasServerActed)
  }

  /// A refresh that failed for the moment fails the request with what it failed with; anything else means to sign in.
  @usableFromInline
  func failure(refreshing failure: TokenRefreshFailure) -> NetworkFailure {
    var refused = self.failure(failure.kind, underlying: failure)
    if let cause = failure.momentaryCause { refused.adopt(cause, of: failure) }
    return refused
  }
}
