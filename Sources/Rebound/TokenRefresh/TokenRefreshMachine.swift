/// Decides who may go on with a credential, who waits for a new one, and when that is fetched.
///
/// It has no clock and no lock, and calls no foreign code; its owner tells it the time, which never goes back.
@usableFromInline
package struct TokenRefreshMachine<Credential: Sendable>: Sendable {
  /// Which credential a request was sent with.
  ///
  /// The session keeps a request of one user from being sent again as another.
  @usableFromInline
  package struct Stamp: Hashable, Sendable {
    package let session: Int
    package let version: Int
  }

  /// What one who asks is told, at once or after a wait.
  package typealias Answer = Result<TokenRefresher<Credential>.Access, TokenRefreshFailure>

  package enum Reply: Sendable {
    case answer(Answer)
    /// Wait under this number, and begin the refresh if there is one.
    case wait(number: Int, begins: Refresh?)
  }

  /// A refresh to begin.
  package struct Refresh: Sendable {
    package let number: Int
    /// What to renew; `nil` if there is none yet.
    package let credential: Credential?
    package let cause: TokenRefreshEvent.Cause
  }

  private struct Waiter {
    let number: Int
    /// Whether it may go on with the credential there is, until that expires.
    let isEarly: Bool
  }

  @usableFromInline
  enum Phase: Sendable {
    case idle
    case refreshing(number: Int)
    case failed(any Error)
  }

  @usableFromInline
  struct Session: Sendable {
    /// `nil` until the first is obtained.
    @usableFromInline var access: TokenRefresher<Credential>.Access?
    @usableFromInline var expiry: Duration?
    @usableFromInline var phase = Phase.idle
    /// After a refresh that failed for the moment: until when no other is tried, and what it failed with.
    var pause: (until: Duration, error: any Error)?
    var failuresInARow = 0

    /// Whether the credential holds no longer, or not longer than this.
    @inlinable
    func isExpired(at now: Duration, leeway: Duration = .zero) -> Bool {
      guard let expiry else { return false }
      return expiry - leeway <= now
    }
  }

  @usableFromInline let policy: TokenRefreshPolicy
  /// Whether a session begins by itself, with whoever asks first.
  private let obtains: Bool
  @usableFromInline var session: Session?
  /// Grow with each sign-in and sign-out, and with each new credential.
  @usableFromInline var sessionNumber = 0
  @usableFromInline package var version = 0
  /// In the order of arrival.
  private var waiters: [Waiter] = []
  private var nextNumber = 0
  /// When the last refreshes were begun.
  private var begun: [Duration] = []

  package init(_ policy: TokenRefreshPolicy, obtains: Bool = false) {
    self.policy = policy
    self.obtains = obtains
  }

  package var credential: Credential? { session?.access?.credential }
  package var queued: Int { waiters.count }
  package var isRefreshing: Bool {
    guard case .refreshing = session?.phase else { return false }
    return true
  }
  package var stamp: Stamp { Stamp(session: sessionNumber, version: version) }

  // MARK: Requests

  /// The answer to a request for which there is nothing to decide: the credential holds, and no new one is on its way.
  @inlinable
  package func accessAtOnce(now: Duration) -> TokenRefresher<Credential>.Access? {
    guard case .idle? = session?.phase, session?.isExpired(at: now, leeway: policy.leeway) == false else { return nil }
    return session?.access
  }

  /// A request asks for a credential: its first, or another in place of one that the server refused.
  package mutating func ask(insteadOf refused: Stamp?, now: Duration, events: inout UntoldEvents<TokenRefreshEvent>)
    -> Reply
  {
    if obtains, session == nil { session = Session() }
    guard let session, refused == nil || refused?.session == sessionNumber else {
      return .answer(.failure(TokenRefreshFailure(reason: .signedOut)))
    }
    // Another request was refused with the same version and has brought a new one already.
    let isCurrentRefused = refused?.version == version
    let isExpired = session.isExpired(at: now)
    // One that is there, and worth to be sent.
    let usable = isCurrentRefused || isExpired ? nil : session.access
    switch session.phase {
    case .failed(let error):
      return .answer(.failure(rejection(error)))
    case .refreshing:
      return .wait(number: wait(isEarly: usable != nil), begins: nil)
    case .idle:
      let isDue = session.isExpired(at: now, leeway: policy.leeway)
      if let usable, !isDue { return .answer(.success(usable)) }
      if let failure = refusal(now: now) {
        if let usable { return .answer(.success(usable)) }
        if failure.reason == .tooManyRefreshes {
          events.append(.tooManyRefreshes(version: version, retryAfter: failure.retryAfter ?? .zero))
        }
        return .answer(.failure(failure))
      }
      let cause: TokenRefreshEvent.Cause =
        session.access == nil ? .missing : isCurrentRefused ? .refused : .expiring
      let refresh = begin(cause, session, now: now, events: &events)
      return .wait(number: wait(isEarly: usable != nil), begins: refresh)
    }
  }

  /// What requests are sent with from this version on.
  private func access(_ credential: Credential) -> TokenRefresher<Credential>.Access {
    TokenRefresher.Access(credential: credential, stamp: stamp)
  }

  private func rejection(_ error: any Error) -> TokenRefreshFailure {
    TokenRefreshFailure(reason: obtains ? .denied : .rejected, underlying: error)
  }

  /// One who waits no longer does.
  ///
  /// The refresh goes on: what the server has issued for it must not be lost.
  package mutating func abandon(_ number: Int) {
    waiters.removeAll { $0.number == number }
  }

  private mutating func wait(isEarly: Bool) -> Int {
    nextNumber += 1
    waiters.append(Waiter(number: nextNumber, isEarly: isEarly))
    return nextNumber
  }

  /// Why no refresh is begun now.
  private func refusal(now: Duration) -> TokenRefreshFailure? {
    if let pause = session?.pause, pause.until > now {
      return TokenRefreshFailure(reason: .failed, underlying: pause.error, retryAfter: pause.until - now)
    }
    let counted = begun.filter { $0 > now - policy.window }
    if counted.count >= policy.maxRefreshes, let first = counted.first {
      return TokenRefreshFailure(reason: .tooManyRefreshes, retryAfter: first + policy.window - now)
    }
    return nil
  }

  private mutating func begin(
    _ cause: TokenRefreshEvent.Cause,
    _ session: Session,
    now: Duration,
    events: inout UntoldEvents<TokenRefreshEvent>
  ) -> Refresh {
    let start = now - policy.window
    begun.removeAll { $0 <= start }
    begun.append(now)
    nextNumber += 1
    self.session?.phase = .refreshing(number: nextNumber)
    events.append(.refreshBegins(version: version, cause))
    return Refresh(number: nextNumber, credential: session.access?.credential, cause: cause)
  }

  // MARK: The refresh

  /// Whether this refresh is still waited for: its session has not ended.
  package func isCurrent(_ refresh: Int) -> Bool {
    guard case .refreshing(refresh) = session?.phase else { return false }
    return true
  }

  /// A refresh has ended.
  ///
  /// - Parameters:
  ///   - lifetime: How long the new credential holds.
  ///   - hint: The pause that the failure asks for.
  /// - Returns: The answers for those who wait, in the order of arrival.
  package mutating func settle(
    _ refresh: Int,
    _ outcome: RefreshOutcome<Credential>,
    lifetime: Duration?,
    hint: Duration?,
    now: Duration,
    events: inout UntoldEvents<TokenRefreshEvent>
  ) -> [(number: Int, answer: Answer)] {
    guard var session, isCurrent(refresh) else {
      events.append(.lateResultDropped)
      return []
    }
    let waiting = waiters
    waiters = []
    switch outcome {
    case .refreshed(let credential):
      version += 1
      let access = access(credential)
      self.session = Session(access: access, expiry: lifetime.map { now + $0.clampedToDelay })
      events.append(.refreshed(version: version, waiters: waiting.count))
      return waiting.map { ($0.number, .success(access)) }

    case .rejected(let error):
      session.phase = .failed(error)
      self.session = session
      events.append(.rejected(version: version, error, waiters: waiting.count))
      return waiting.map { ($0.number, .failure(rejection(error))) }

    case .failed(let error):
      let pause = cooldown(after: session.failuresInARow, hint: hint)
      session.phase = .idle
      session.failuresInARow += 1
      session.pause = (now + pause, error)
      self.session = session
      events.append(.failed(version: version, error, cooldown: pause, waiters: waiting.count))
      let failure = TokenRefreshFailure(reason: .failed, underlying: error, retryAfter: pause)
      let usable = session.isExpired(at: now) ? nil : session.access
      return waiting.map { waiter in
        (waiter.number, (waiter.isEarly ? usable : nil).map { .success($0) } ?? .failure(failure))
      }
    }
  }

  private func cooldown(after failures: Int, hint: Duration?) -> Duration {
    var cooldown = policy.cooldown
    for _ in 0..<failures where cooldown < policy.maxCooldown { cooldown *= 2 }
    return max(min(cooldown, policy.maxCooldown), min(hint ?? .zero, policy.maxHint))
  }

  // MARK: The session

  /// Someone has signed in.
  ///
  /// - Returns: The answers for those who wait: they belong to the session before.
  package mutating func signIn(
    _ credential: Credential,
    lifetime: Duration?,
    now: Duration,
    events: inout UntoldEvents<TokenRefreshEvent>
  ) -> [(number: Int, answer: Answer)] {
    let answers = endSession()
    session = Session(access: access(credential), expiry: lifetime.map { now + $0.clampedToDelay })
    events.append(.signedIn(version: version))
    return answers
  }

  /// Someone has signed out.
  ///
  /// - Returns: The answers for those who wait.
  package mutating func signOut(events: inout UntoldEvents<TokenRefreshEvent>) -> [(number: Int, answer: Answer)] {
    guard session != nil else { return [] }
    let answers = endSession()
    events.append(.signedOut(waiters: answers.count))
    return answers
  }

  private mutating func endSession() -> [(number: Int, answer: Answer)] {
    sessionNumber += 1
    version += 1
    session = nil
    begun = []
    let waiting = waiters
    waiters = []
    return waiting.map { ($0.number, .failure(TokenRefreshFailure(reason: .signedOut))) }
  }
}
