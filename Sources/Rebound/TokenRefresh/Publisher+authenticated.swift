import Combine
import StreamSupport

extension TokenRefresher {
  /// Makes a publisher that sends requests with the shared credential, and once more with another if the server
  /// refuses it.
  ///
  ///     session.authenticated(when: \.isUnauthorised, failingWith: NetworkFailure.init) { token in
  ///       client.publisher(for: request, token: token)
  ///     }
  ///
  /// - Parameters:
  ///   - isUnauthorised: Which failures say that the server refuses the credential.
  ///   - failure: The failure for a request that gets no credential.
  ///   - request: Makes the request; called once for each time that it is sent, on the thread that brings the
  ///     credential.
  ///
  /// - Demand: Passes up; what is owed when the credential is refused is asked of the second request. Nothing is held
  ///   while the credential is waited for.
  /// - Failure: That of the request, a second refusal included, or the one for no credential.
  /// - Threads: Where the request sends. A request that has waited is sent where the refresh ends.
  public func authenticated<Request: Publisher>(
    when isUnauthorised: @escaping (Request.Failure) -> Bool,
    failingWith failure: @escaping (TokenRefreshFailure) -> Request.Failure,
    _ request: @escaping (Credential) -> Request
  ) -> Publishers.Authenticated<Credential, Request> {
    Publishers.Authenticated(refresher: self, isUnauthorised: isUnauthorised, failure: failure, request: request)
  }

  /// Makes a publisher that sends requests with the shared credential, and fails with ``TokenRefreshFailure`` if there
  /// is none.
  ///
  /// See ``authenticated(when:failingWith:_:)``.
  ///
  /// - Parameters:
  ///   - isUnauthorised: Which failures say that the server refuses the credential.
  ///   - request: Makes the request.
  public func authenticated<Request: Publisher>(
    when isUnauthorised: @escaping (any Error) -> Bool,
    _ request: @escaping (Credential) -> Request
  ) -> Publishers.Authenticated<Credential, Request> where Request.Failure == any Error {
    authenticated(when: isUnauthorised, failingWith: { $0 }, request)
  }
}

extension Publishers {
  /// Sends a request with a shared credential, and once more with another if the server refuses it.
  ///
  /// Made by ``TokenRefresher/authenticated(when:failingWith:_:)``.
  public struct Authenticated<Credential: Sendable, Request: Publisher>: Publisher {
    /// What the request publishes.
    public typealias Output = Request.Output
    /// What the request fails with.
    public typealias Failure = Request.Failure

    /// Has the credential, and renews it.
    public let refresher: TokenRefresher<Credential>
    /// Which failures say that the server refuses the credential.
    public let isUnauthorised: (Failure) -> Bool
    /// The failure for a request that gets no credential.
    public let failure: (TokenRefreshFailure) -> Failure
    /// Makes the request.
    public let request: (Credential) -> Request

    /// Makes a publisher that sends requests with a shared credential.
    ///
    /// - Parameters:
    ///   - refresher: Has the credential, and renews it.
    ///   - isUnauthorised: Which failures say that the server refuses the credential.
    ///   - failure: The failure for a request that gets no credential.
    ///   - request: Makes the request.
    public init(
      refresher: TokenRefresher<Credential>,
      isUnauthorised: @escaping (Failure) -> Bool,
      failure: @escaping (TokenRefreshFailure) -> Failure,
      request: @escaping (Credential) -> Request
    ) {
      self.refresher = refresher
      self.isUnauthorised = isUnauthorised
      self.failure = failure
      self.request = request
    }

    /// Begins an execution of its own for this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = AuthenticatedExecution(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}

/// What one execution was told about its credential so far.
///
/// Unchecked, because the lock guards what changes.
private final class AccessHistory<Credential: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var access: TokenRefresher<Credential>.Access?
  private var isDenied = false

  /// What the request was sent with last; `nil` before the first time, and once there was no credential.
  var last: TokenRefresher<Credential>.Access? {
    lock.withLock { isDenied ? nil : access }
  }

  func write(_ result: Result<TokenRefresher<Credential>.Access, TokenRefreshFailure>) {
    let before = lock.withLock {
      let before = access
      switch result {
      case .success(let new): access = new
      case .failure: isDenied = true
      }
      return before
    }
    withExtendedLifetime(before) {}
  }
}

/// Sends a request once there is a credential, each time it is subscribed to.
private struct AuthenticatedRequest<Credential: Sendable, Request: Publisher>: Publisher {
  typealias Output = Request.Output
  typealias Failure = Request.Failure

  let recipe: Publishers.Authenticated<Credential, Request>
  let history: AccessHistory<Credential>

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let admission = Admission<TokenRefresher<Credential>.Access, Request>(
      name: "Authenticated",
      ask: { answer in
        recipe.refresher.ask(insteadOf: history.last) { result in
          history.write(result)
          answer(result.mapError(recipe.failure))
        }
      },
      upstream: { recipe.request($0.credential) },
      settle: { _, _ in }
    )
    AdmissionExecution.begin(admission, downstream: subscriber)
  }
}

/// The two times that a request is sent at most.
private final class AuthenticatedExecution<Credential: Sendable, Request: Publisher, Downstream: Subscriber>:
  Attempts<AuthenticatedRequest<Credential, Request>, Downstream>, CustomStringConvertible
where Downstream.Input == Request.Output, Downstream.Failure == Request.Failure {
  private let isUnauthorised: (Request.Failure) -> Bool
  private let history: AccessHistory<Credential>

  init(_ recipe: Publishers.Authenticated<Credential, Request>, downstream: Downstream) {
    isUnauthorised = recipe.isUnauthorised
    history = AccessHistory()
    super.init(upstream: AuthenticatedRequest(recipe: recipe, history: history), downstream: downstream)
  }

  var description: String { "Authenticated" }

  override func attemptFailed(_ attempt: Int, with error: Request.Failure) {
    // A failure to get a credential is no refusal of one, whatever it was mapped to.
    if attempt == 1, history.last != nil, isUnauthorised(error) {
      resume(after: attempt)
    } else {
      end(with: .failure(error), after: attempt)
    }
  }
}
