/// Something that was decided about a shared credential.
///
/// Events carry versions and errors, never a credential, so a log of them gives no secret away.
public enum TokenRefreshEvent: Sendable {
  /// Why a refresh begins.
  public enum Cause: Hashable, Sendable {
    /// The server refused the credential.
    case refused
    /// The credential is about to expire, or has expired.
    case expiring
    /// There is none yet, and the refresher obtains it by itself.
    case missing
  }

  /// Someone has signed in; from here on requests carry this version.
  case signedIn(version: Int)
  /// The one refresh begins, for whoever needs it.
  case refreshBegins(version: Int, Cause)
  /// There is a new credential, and this many requests go on with it.
  case refreshed(version: Int, waiters: Int)
  /// The server will not renew the session: the user has to sign in. Told once for each session.
  case rejected(version: Int, any Error, waiters: Int)
  /// The refresh failed for the moment, the session is kept, and no other refresh is tried for this long.
  case failed(version: Int, any Error, cooldown: Duration, waiters: Int)
  /// The new credential could not be stored, and other processes do not see it.
  case notStored(version: Int, any Error)
  /// A refresh is not begun, since there were too many.
  case tooManyRefreshes(version: Int, retryAfter: Duration)
  /// Someone has signed out, and this many requests fail.
  case signedOut(waiters: Int)
  /// A refresh has ended after its session had, and what it brought is dropped.
  case lateResultDropped
}

extension TokenRefreshEvent: CustomStringConvertible {
  /// One line for a log: "credential 3: refreshed; 99 waiting requests go on".
  public var description: String {
    switch self {
    case .signedIn(let version):
      return "credential \(version): signed in"
    case .refreshBegins(let version, let cause):
      return "credential \(version): refresh begins (\(cause))"
    case .refreshed(let version, let waiters):
      return "credential \(version): refreshed; \(waiters) waiting requests go on"
    case .rejected(let version, let error, let waiters):
      return "credential \(version): session rejected (\(error)); \(waiters) waiting requests fail"
    case .failed(let version, let error, let cooldown, let waiters):
      return "credential \(version): refresh failed (\(error)); next in \(cooldown); \(waiters) waiting requests"
    case .notStored(let version, let error):
      return "credential \(version): its successor could not be stored (\(error))"
    case .tooManyRefreshes(let version, let retryAfter):
      return "credential \(version): too many refreshes; next in \(retryAfter)"
    case .signedOut(let waiters):
      return "signed out; \(waiters) waiting requests fail"
    case .lateResultDropped:
      return "a refresh ended after its session; its result is dropped"
    }
  }
}

extension TokenRefreshEvent: PolicyDecision {
  /// That of shared credentials.
  public static var kind: PolicyKind { .authentication }

  /// An error if the user has to sign in, a warning if something else went wrong.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .rejected: .error
    case .failed, .notStored, .tooManyRefreshes: .warning
    case .signedIn, .refreshBegins, .refreshed, .signedOut, .lateResultDropped: .info
    }
  }

  /// The decision in a word.
  public var word: String {
    switch self {
    case .signedIn: "signed_in"
    case .refreshBegins: "refresh_begins"
    case .refreshed: "refreshed"
    case .rejected: "rejected"
    case .failed: "failed"
    case .notStored: "not_stored"
    case .tooManyRefreshes: "too_many_refreshes"
    case .signedOut: "signed_out"
    case .lateResultDropped: "late_result_dropped"
    }
  }
}

extension PolicyKind {
  /// That of a ``TokenRefresher``.
  public static let authentication = PolicyKind("authentication")
}

extension TokenRefresher: PolicyObservable {
  /// That of shared credentials.
  public static var kind: PolicyKind { .authentication }
  /// Tells one more observer what is decided, as ``onEvent(_:)`` does.
  public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) { onEvent { observer($0) } }
}
