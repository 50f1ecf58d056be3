import Combine
import Rebound

/// Sends requests with the user's credential, and renews it once for all when the server refuses it.
///
///     Authenticating(with: session) { headers, token in headers["Authorization"] = "Bearer \(token.accessToken)" }
///
/// A 401 is answered by one refresh, whatever the number of requests that got it, and each of them is sent once more. A
/// second 401 passes on. A server that refuses every credential is ``NetworkFailure/Kind-swift.enum/unauthorised`` each
/// time, also once the refresher has had enough of it and renews none any more. A request whose body can be read only once
/// is not sent again, and neither is one that says that it is not authenticated sent with a credential.
///
/// The refresh itself must not go through this: give it a client without, or a request that is not authenticated.
public struct Authenticating<Credential: Sendable>: Middleware {
  private let refresher: TokenRefresher<Credential>
  private let apply: @Sendable (inout HTTPHeaders, Credential) -> Void

  /// Makes the middleware.
  ///
  /// - Parameters:
  ///   - refresher: Holds the credential, and renews it; shared by all that use it.
  ///   - apply: Puts a credential into the header fields.
  public init(
    with refresher: TokenRefresher<Credential>,
    _ apply: @escaping @Sendable (inout HTTPHeaders, Credential) -> Void
  ) {
    self.refresher = refresher
    self.apply = apply
  }

  /// Inside the retries, so that each has the credential of the moment.
  public var place: MiddlewarePlace { .authentication }

  /// Sends the request with a credential.
  public func exchange(
    _ request: HTTPRequest,
    next: @escaping @Sendable (HTTPRequest) -> HTTPExchange
  ) -> HTTPExchange {
    guard request.isAuthenticated else { return next(request) }
    let mayRepeat = request.message.body.isReplayable
    return
      refresher
      .authenticated(
        when: { mayRepeat && $0.kind == .unauthorised },
        failingWith: { failure(request, $0) },
        time: request.time
      ) { credential -> HTTPExchange in
        var request = request
        apply(&request.message.headers, credential)
        if let field = request.message.headers.first(where: { !$0.isValid }) {
          let invalid = InvalidRequest(operation: request.operation, reason: .header(field.name))
          return Fail(error: request.failure(.invalidRequest, underlying: invalid)).eraseToAnyPublisher()
        }
        return next(request)
      }
      .eraseToAnyPublisher()
  }

  /// A refresh that failed for the moment fails the request with what it failed with; anything else means to sign in.
  private func failure(_ request: HTTPRequest, _ failure: TokenRefreshFailure) -> NetworkFailure {
    var refused = request.failure(failure.kind, underlying: failure)
    if let cause = failure.momentaryCause { refused.adopt(cause, of: failure) }
    return refused
  }
}
