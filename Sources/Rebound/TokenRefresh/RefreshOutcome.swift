/// What comes of an attempt to renew a credential.
///
/// The difference between the two failures is the point: a user whose network is down must not be signed out, and one
/// whose session is over must not be kept waiting.
public enum RefreshOutcome<Credential> {
  /// There is a new credential.
  case refreshed(Credential)
  /// The server will not renew this session, whatever happens: OAuth's `invalid_grant`, 400, 401. The user has to sign in.
  case rejected(any Error)
  /// It failed for the moment: time out, 429, 5xx, offline. The session is kept.
  case failed(any Error)
}

extension RefreshOutcome: Sendable where Credential: Sendable {}
