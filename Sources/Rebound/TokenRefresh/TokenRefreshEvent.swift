/// Something that was decided about a shared credential.
///
/// Events carry versions and errors, never a credential, so a log of them gives no secret away. An error if the user has
/// to sign in, a warning if something else went wrong.
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

extension TokenRefreshEvent: RecordedDecision {
  /// That of shared credentials.
  public static var kind: PolicyKind { .authentication }

  var record: DecisionRecord {
    switch self {
    case .signedIn(let version):
      .init(.info, "signed_in", "credential \(version): signed in").with([.init("version", version)])
    case .refreshBegins(let version, let cause):
      .init(.info, "refresh_begins", "credential \(version): refresh begins (\(cause))")
        .with([.init("version", version), .init("cause", "\(cause)")])
    case .refreshed(let version, let waiters):
      .init(.info, "refreshed", "credential \(version): refreshed; \(waiters) waiting requests go on")
        .with([.init("version", version), .init("waiters", waiters)])
    case .rejected(let version, let error, let waiters):
      .init(.error, "rejected", "credential \(version): session rejected (\(error)); \(waiters) waiting requests fail")
        .with([.init("version", version), .init("waiters", waiters)])
    case .failed(let version, let error, let cooldown, let waiters):
      .init(
        .warning,
        "failed",
        "credential \(version): refresh failed (\(error)); next in \(cooldown); \(waiters) waiting requests"
      )
      .with([.init("version", version), .init("retry_after", cooldown), .init("waiters", waiters)])
    case .notStored(let version, let error):
      .init(.warning, "not_stored", "credential \(version): its successor could not be stored (\(error))")
        .with([.init("version", version)])
    case .tooManyRefreshes(let version, let retryAfter):
      .init(.warning, "too_many_refreshes", "credential \(version): too many refreshes; next in \(retryAfter)")
        .with([.init("version", version), .init("retry_after", retryAfter)])
    case .signedOut(let waiters):
      .init(.info, "signed_out", "signed out; \(waiters) waiting requests fail").with([.init("waiters", waiters)])
    case .lateResultDropped:
      .init(.info, "late_result_dropped", "a refresh ended after its session; its result is dropped")
    }
  }
}

extension PolicyKind {
  /// That of a ``TokenRefresher``.
  public static let authentication = PolicyKind("authentication")
}

extension TokenRefresher: EventTelling {}
