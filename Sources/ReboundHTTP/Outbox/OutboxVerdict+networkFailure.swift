import Rebound
import ReboundOutbox

extension OutboxVerdict {
  /// What a failure means for a stored request.
  ///
  /// | failure | verdict |
  /// |---|---|
  /// | no way to the service: offline, DNS, refused, TLS, a captive portal, an open circuit, a limit of this program | `unreachable`: does not count |
  /// | 408, 413 with Retry-After, 425, 429, 500, 502, 503, 504, a timeout, a lost connection, what has no name before anything is sent, a credential that is not there for the moment | `tryLater`, with the pause asked for |
  /// | any other status, a request that makes no sense or whose body cannot be read, a credential that is refused for good | `refused` |
  ///
  /// A certificate that is not trusted is no way to the service, too: networks that want the user to sign in show one of
  /// their own.
  public init(_ failure: NetworkFailure) {
    switch failure.kind {
    case .captivePortal:
      self = .unreachable(failure)
    case .circuitOpen, .busy, .rateLimited:
      self = .unreachable(failure, after: failure.retryAfter)
    case .transport(.cancelled), .deadlineExceeded:
      self = .tryLater(failure, after: failure.retryAfter)
    case .transport(let kind) where kind.isOfNetwork && failure.transport?.provesNothingWasSent ?? false:
      self = .unreachable(failure)
    // What nobody has a name for may pass, as memory that is short does. It counts, so that it does not go on for ever.
    case .transport(.other) where failure.transport?.provesNothingWasSent ?? false:
      self = .tryLater(failure)
    case _ where (failure.underlying as? TokenRefreshFailure)?.needsSignIn == false:
      self = .tryLater(failure, after: failure.retryAfter)
    default:
      self = failure.isTransient ? .tryLater(failure, after: failure.retryAfter) : .refused(failure)
    }
  }
}

extension TransportFailure.Kind {
  /// Whether it says something of the way to the service, which may be another the next time, and not of the request.
  fileprivate var isOfNetwork: Bool {
    switch self {
    case .offline, .dns, .connect, .tls, .proxy, .timeout, .reset, .truncated, .protocol, .cancelled: true
    case .tooManyRedirects, .tooLarge, .body, .other: false
    }
  }
}
