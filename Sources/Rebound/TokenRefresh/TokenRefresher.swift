import Combine

/// One credential that all requests share, renewed once for all of them when it is refused or expires.
///
///     let session = TokenRefresher<Token>(lifetime: \.expiresIn) { request in
///       await api.renew(request.credential)   // .refreshed, .rejected or .failed
///     }
///     session.signIn(with: token)
///     session.authenticated(when: \.isUnauthorised, failingWith: NetworkFailure.init) { token in
///       client.publisher(for: request, token: token)
///     }
///
/// A hundred requests that are refused at the same time cause one refresh and are each sent once more, in the order in
/// which they were refused. A request that was sent with an older credential is sent again at once. A second refusal
/// passes on. Cancelling a request, or all of them, does not cancel the refresh: a token that the server has issued
/// must not be lost.
///
/// Where a key buys the credential, the refresher obtains the first one, too, for whoever asks first; nobody signs in:
///
///     let session = TokenRefresher<Token>(lifetime: \.expiresIn, rejectedWhen: { $0.status == 403 }) {
///       () async throws(NetworkFailure) in try await api.token(for: key)
///     }
///
/// The refresh must not itself be sent through the refresher, for it would wait for its own end; and it should have a
/// time limit, since all requests wait for it.
public final class TokenRefresher<Credential: Sendable>: Sendable {
  /// Starts a refresh, or the obtaining of a first credential, and has it tell its outcome once.
  typealias Start = @Sendable (Refresh?, _ whenDone: @escaping @Sendable (RefreshOutcome<Credential>) -> Void) -> Void

  @usableFromInline struct State {
    @usableFromInline var machine: TokenRefreshMachine<Credential>
    /// The latest present that a request has brought; a step back counts as no time at all.
    @usableFromInline var latest = Duration.zero
    /// Those who wait, by number.
    var waiters: [Int: (Result<Access, TokenRefreshFailure>) -> Void] = [:]
    /// Those who wait for the end of the refresh and ask for nothing; whoever has left is empty.
    var watchers: [OneShot] = []
  }

  @usableFromInline let shared: Shared<State, TokenRefreshEvent>
  private let lifetime: @Sendable (Credential) -> Duration?
  private let start: Start

  private init(
    policy: TokenRefreshPolicy,
    obtains: Bool = false,
    lifetime: @escaping @Sendable (Credential) -> Duration?,
    start: @escaping Start
  ) {
    shared = Shared(State(machine: TokenRefreshMachine(policy, obtains: obtains)))
    self.lifetime = lifetime
    self.start = start
  }

  /// Makes a refresher that renews credentials with an asynchronous function; nobody is signed in yet.
  ///
  /// - Parameters:
  ///   - policy: When to renew, and how often at most.
  ///   - lifetime: How long a credential holds from the moment it was issued, such as OAuth's `expires_in`; `nil` if
  ///     that is not known. Asked once for each credential, when it comes in.
  ///   - store: Where other processes that use the same credential look; see ``CredentialStore``.
  ///   - refresh: Renews the credential. Runs in a task of its own, one at a time for each session.
  public convenience init(
    policy: TokenRefreshPolicy = .standard,
    lifetime: @escaping @Sendable (Credential) -> Duration? = { _ in nil },
    store: CredentialStore<Credential>? = nil,
    refreshing refresh: @escaping @Sendable (Refresh) async -> RefreshOutcome<Credential>
  ) {
    self.init(policy: policy, lifetime: lifetime) { request, whenDone in
      // Nothing is obtained here.
      guard let request else { return }
      Task {
        let outcome = await store?.refresh(request, with: refresh)
        if let outcome { whenDone(outcome) } else { whenDone(await refresh(request)) }
      }
    }
  }

  /// Makes a refresher that renews credentials with a publisher; nobody is signed in yet.
  ///
  /// - Parameters:
  ///   - policy: When to renew, and how often at most.
  ///   - lifetime: How long a credential holds from the moment it was issued; `nil` if that is not known.
  ///   - isRejection: Which failures say that the server will not renew this session; after the others it is kept.
  ///   - refresh: Makes a publisher of the new credential. Its first value counts.
  public convenience init<RenewalFailure: Error>(
    policy: TokenRefreshPolicy = .standard,
    lifetime: @escaping @Sendable (Credential) -> Duration? = { _ in nil },
    rejectedWhen isRejection: @escaping @Sendable (RenewalFailure) -> Bool,
    refreshingWith refresh: @escaping @Sendable (Refresh) -> AnyPublisher<Credential, RenewalFailure>
  ) {
    self.init(policy: policy, lifetime: lifetime) { request, whenDone in
      // Nothing is obtained here.
      guard let request else { return }
      refresh(request)
        .subscribe(
          FirstValue { result in
            switch result {
            case .success(let credential?): whenDone(.refreshed(credential))
            case .success(nil): whenDone(.failed(RefreshWithoutCredential()))
            case .failure(let error): whenDone(isRejection(error) ? .rejected(error) : .failed(error))
            }
          }
        )
    }
  }

  /// Makes a refresher that obtains its credentials itself, the first one too.
  ///
  /// Nobody signs in: an API key buys the token, for example.
  ///
  /// The first request has one obtained, and all others wait for it. So has the first one after a sign-out.
  ///
  /// - Parameters:
  ///   - policy: When to obtain another one, and how often at most.
  ///   - lifetime: How long a credential holds from the moment it was issued; `nil` if that is not known.
  ///   - isRejection: Which failures say that the server grants no credential, whatever happens; from then on all requests
  ///     fail, until somebody signs out or in. After the others it is tried again.
  ///   - obtain: Obtains a credential. Runs in a task of its own, one at a time.
  public convenience init<ObtainingFailure: Error>(
    policy: TokenRefreshPolicy = .standard,
    lifetime: @escaping @Sendable (Credential) -> Duration? = { _ in nil },
    rejectedWhen isRejection: @escaping @Sendable (ObtainingFailure) -> Bool = { _ in false },
    obtaining obtain: @escaping @Sendable () async throws(ObtainingFailure) -> Credential
  ) {
    self.init(policy: policy, obtains: true, lifetime: lifetime) { _, whenDone in
      Task {
        do throws(ObtainingFailure) { whenDone(.refreshed(try await obtain())) } catch {
          whenDone(isRejection(error) ? .rejected(error) : .failed(error))
        }
      }
    }
  }

  /// Tells one more observer what is decided, in order, on the thread of one of those who cause it, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (TokenRefreshEvent) -> Void) -> TokenRefresher {
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (TokenRefreshEvent) -> Void) {
    shared.observe(for: audience, observer)
  }

  /// The credential that requests are sent with now; `nil` if nobody is signed in.
  public var credential: Credential? { shared.read { $0.machine.credential } }

  /// How many requests wait for a refresh.
  public var queued: Int { shared.read { $0.machine.queued } }

  // MARK: The session

  /// Begins a session with this credential, in place of the one before.
  ///
  /// Requests of the session before that wait for a refresh fail: they must not be sent again as someone else.
  ///
  /// Store the credential before this, if there is a ``CredentialStore``: a refresh takes over what is stored.
  ///
  /// - Parameters:
  ///   - credential: What requests are sent with from now on.
  ///   - now: The present, from which its lifetime counts.
  public func signIn(with credential: Credential, at now: Duration = TimeSource.current.now) {
    let lifetime = lifetime(credential)
    deliver {
      // A credential that says nothing of its lifetime needs no present, and must not set one for the requests.
      let now = lifetime == nil ? $0.latest : $0.latest.advance(to: now)
      return $0.machine.signIn(credential, lifetime: lifetime, now: now, events: &$1)
    }
  }

  /// Ends the session: requests that wait fail, and a refresh that ends late brings nothing back.
  ///
  /// Delete what is stored after this, under the lock of the ``CredentialStore`` if there is one.
  public func signOut() {
    deliver { $0.machine.signOut(events: &$1) }
  }

  // MARK: Requests

  /// A credential to send one request with.
  public struct Access: Sendable {
    /// One for all requests with the credential, so that each copies a reference, whatever a credential consists of.
    @usableFromInline
    final class Issued: Sendable {
      @usableFromInline let credential: Credential
      let stamp: TokenRefreshMachine<Credential>.Stamp

      init(_ credential: Credential, _ stamp: TokenRefreshMachine<Credential>.Stamp) {
        (self.credential, self.stamp) = (credential, stamp)
      }
    }

    @usableFromInline let issued: Issued

    /// What to send.
    @inlinable public var credential: Credential { issued.credential }
    /// Counts the credentials of a refresher.
    public var version: Int { stamp.version }
    var stamp: TokenRefreshMachine<Credential>.Stamp { issued.stamp }

    init(credential: Credential, stamp: TokenRefreshMachine<Credential>.Stamp) {
      issued = Issued(credential, stamp)
    }
  }

  /// A refresh under way.
  public struct Refresh: Sendable {
    /// What to renew.
    public let credential: Credential
    /// Why.
    public let cause: TokenRefreshEvent.Cause
    private let number: Int
    private let shared: Shared<State, TokenRefreshEvent>

    fileprivate init?(_ refresh: TokenRefreshMachine<Credential>.Refresh, of shared: Shared<State, TokenRefreshEvent>) {
      guard let credential = refresh.credential else { return nil }
      self.credential = credential
      cause = refresh.cause
      number = refresh.number
      self.shared = shared
    }

    /// Whether the session goes on; store nothing if not.
    public var isCurrent: Bool { shared.read { $0.machine.isCurrent(number) } }

    func reportNotStored(_ error: any Error) {
      shared.change { $1.append(.notStored(version: $0.machine.version, error)) }
    }
  }

  /// Waits for a credential to send a request with.
  ///
  /// - Parameters:
  ///   - refused: What the request was sent with when the server refused it; `nil` to send it the first time.
  ///   - time: Measures lifetimes and pauses.
  /// - Throws: ``TokenRefreshFailure`` if there is none; ``TimedOut`` if ``Deadline/current`` is over first, while the refresh
  ///   goes on; `CancellationError` if the task is cancelled.
  public nonisolated(nonsending) func access(
    insteadOf refused: Access? = nil,
    time: TimeSource = .current
  ) async throws -> Access {
    try await Answer.wait(until: Deadline.toHeed) { self.ask(insteadOf: refused, on: time, $0) }
  }

  /// Asks for a credential.
  ///
  /// - Parameter answer: Called once, now or later, on any thread, unless what is returned is cancelled before.
  package func ask(
    insteadOf refused: Access? = nil,
    on time: TimeSource = .current,
    _ answer: @escaping (Result<Access, TokenRefreshFailure>) -> Void
  ) -> (any Cancellable)? {
    switch ask(insteadOf: refused, at: time.now, on: time, waiting: { answer }) {
    case .answer(let known):
      answer(known)
      return nil
    case .wait(let pending):
      return pending
    }
  }

  /// What comes of asking for a credential.
  enum Reply {
    /// It is known, and nobody waits.
    case answer(Result<Access, TokenRefreshFailure>)
    /// The answer comes later, unless this is cancelled before.
    case wait(any Cancellable)
  }

  /// The credential for a request that is sent the first time, if there is nothing to decide.
  @inlinable
  func accessAtOnce(at now: Duration) -> Access? {
    shared.adjust { state, _ in state.machine.accessAtOnce(now: state.latest.advance(to: now)) }
  }

  /// Asks for a credential, and waits for it only if none is known.
  ///
  /// - Parameter makeWaiter: Makes what is called with an answer that comes later, once, on any thread. It is called with
  ///   the lock held.
  func ask(
    insteadOf refused: Access?,
    at now: Duration,
    on time: TimeSource,
    waiting makeWaiter: () -> (Result<Access, TokenRefreshFailure>) -> Void
  ) -> Reply {
    let reply = shared.change { state, events in
      let reply = state.machine.ask(insteadOf: refused?.stamp, now: state.latest.advance(to: now), events: &events)
      if case .wait(let number, _) = reply { state.waiters[number] = makeWaiter() }
      return reply
    }
    switch reply {
    case .answer(let known):
      return .answer(known)
    case .wait(let number, let refresh):
      if let refresh { begin(refresh, on: time) }
      return .wait(
        AnyCancellable { [shared] in
          let answer = shared.change { state, _ in
            state.machine.abandon(number)
            return state.waiters.removeValue(forKey: number)
          }
          withExtendedLifetime(answer) {}
        }
      )
    }
  }

  /// Has a credential obtained, or renewed if it is about to expire, before a request needs it; nobody waits for it.
  package func prepare(on time: TimeSource = .current) {
    _ = ask(on: time) { _ in }
  }

  /// Waits until the refresh under way has ended and what it brought is stored, if there is one, or the task is cancelled.
  package nonisolated(nonsending) func waitForRefresh() async {
    // It throws if the task is cancelled, and only then.
    try? await Answer<Void>.wait { (end: @escaping @Sendable (Result<Void, Never>) -> Void) in
      let watcher = OneShot { end(.success(())) }
      let isRefreshing = shared.adjust { state, _ in
        if state.machine.isRefreshing { state.watchers.append(watcher) }
        return state.machine.isRefreshing
      }
      if !isRefreshing { watcher.fire() }
      return watcher
    }
  }

  private func begin(_ refresh: TokenRefreshMachine<Credential>.Refresh, on time: TimeSource) {
    let settle = { @Sendable (outcome: RefreshOutcome<Credential>) in
      let now = time.now
      var (lifetime, hint): (Duration?, Duration?)
      switch outcome {
      case .refreshed(let credential): lifetime = self.lifetime(credential)
      case .failed(let error): hint = (error as? any RetryAfterProviding)?.retryAfter
      case .rejected: break
      }
      self.deliver {
        let now = $0.latest.advance(to: now)
        return $0.machine.settle(refresh.number, outcome, lifetime: lifetime, hint: hint, now: now, events: &$1)
      }
    }
    // It is everybody's: the time of the one who was first is not its limit, and what that one calls is another call.
    ForeignCall.left { Deadline.replaced(by: nil) { start(Refresh(refresh, of: shared), settle) } }
  }

  /// Changes the machine, and gives those who wait the answers that come of it, in order.
  private func deliver(
    _ change: (inout State, inout UntoldEvents<TokenRefreshEvent>) -> [(
      number: Int, answer: TokenRefreshMachine<Credential>.Answer
    )]
  ) {
    let answers = shared.change { state, events in
      // What is replaced may hold the last reference to something of the caller's.
      let before = state.machine
      let answers = change(&state, &events)
      var watchers: [OneShot] = []
      if !state.machine.isRefreshing { swap(&watchers, &state.watchers) }
      return (before, answers.map { (state.waiters.removeValue(forKey: $0.number), $0.answer) }, watchers)
    }
    for (waiter, result) in answers.1 { waiter?(result) }
    for watcher in answers.2 { watcher.fire() }
  }
}

extension TokenRefresher {
  /// Runs an asynchronous function with the shared credential, and once more with another if the server refuses it.
  ///
  ///     let forecast = try await session.run(when: { ($0 as? NetworkFailure)?.status == 401 }) { token in
  ///       try await client.forecast(for: city, token: token)
  ///     }
  ///
  /// - Parameters:
  ///   - isUnauthorised: Which errors say that the server refuses the credential.
  ///   - time: Measures lifetimes and pauses.
  ///   - operation: The request; called twice at most.
  /// - Throws: What the function throws; ``TokenRefreshFailure`` if there is no credential; ``TimedOut`` if
  ///   ``Deadline/current`` is over while it waits for one; `CancellationError` if the task was cancelled before, or is then.
  @inlinable
  public nonisolated(nonsending) func run<Value>(
    when isUnauthorised: @escaping (any Error) -> Bool,
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) (Credential) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let call = AuthenticatedCall<Credential, any Error>(with: self, when: isUnauthorised)
    return try await AuthenticationPolicy(call)
      .drive(ExecutionContext(time: time)) {
        // The machine lets no attempt begin before it is there.
        guard let access = call.access else { throw TokenRefreshFailure(reason: .signedOut) }
        return try await operation(access.credential)
      }
  }
}
