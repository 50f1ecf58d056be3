extension NetworkFailure.Texts {
  /// What there is a text for.
  ///
  /// The raw value is a stable name, for tables of translations.
  public enum Key: String, CaseIterable, Sendable {
    /// No network at all.
    case offline
    /// The host's name is not known.
    case dns
    /// Nobody takes the connection.
    case connect
    /// No secure connection.
    case tls
    /// The server's key is not a pinned one.
    case notPinned
    /// A proxy cannot be reached, or breaks off.
    case proxy
    /// A proxy wants a name and a password.
    case proxyCredentials
    /// A proxy does not let the request pass.
    case proxyRefused
    /// It took too long.
    case timeout
    /// The connection broke.
    case connectionLost
    /// What came is no HTTP, or not what was asked for.
    case notUnderstood
    /// More came than is allowed.
    case tooLarge
    /// What was to be sent could not be read.
    case unreadable
    /// The network wants the user to sign in.
    case captivePortal
    /// Nothing to make a response of.
    case noData
    /// An answer that this version does not understand.
    case decoding
    /// 400 and 422.
    case badInput
    /// 401.
    case unauthorised
    /// 403.
    case forbidden
    /// 404.
    case notFound
    /// 406.
    case notAcceptable
    /// 409.
    case conflict
    /// 410.
    case gone
    /// 429, and a limit of this program.
    case tooManyRequests
    /// Any other status from 400 to 499.
    case clientError
    /// A status from 500 to 599.
    case serverError
    /// A status that is no error and not valid.
    case unexpectedStatus
    /// A request that makes no sense.
    case invalidRequest
    /// A circuit breaker let nothing through.
    case circuitOpen
    /// A limit of this program let nothing more begin.
    case busy
    /// Only a copy was asked for.
    case notCached
    /// What came could not be saved.
    case notSaved
    /// What came is not what was meant.
    case mismatch
    /// Cancelled.
    case cancelled
    /// Anything else.
    case other
    /// When to try again, in place of another suggestion; `{wait}` stands for the pause.
    case retryAfter
    /// What `{host}` stands for where the host is not known.
    case unknownHost

    init(_ kind: NetworkFailure.Kind) {
      switch kind {
      case .transport(let transport): self.init(transport)
      case .captivePortal: self = .captivePortal
      case .noData: self = .noData
      case .decoding: self = .decoding
      case .unexpectedContentType: self = .notUnderstood
      case .badRequest, .unprocessable: self = .badInput
      case .unauthorised: self = .unauthorised
      case .forbidden: self = .forbidden
      case .notFound: self = .notFound
      case .notAcceptable: self = .notAcceptable
      case .conflict: self = .conflict
      case .gone: self = .gone
      case .tooManyRequests, .rateLimited: self = .tooManyRequests
      case .clientError(408), .deadlineExceeded: self = .timeout
      case .clientError: self = .clientError
      case .serverError: self = .serverError
      case .unexpectedStatus, .redirectRefused: self = .unexpectedStatus
      case .invalidRequest: self = .invalidRequest
      case .circuitOpen: self = .circuitOpen
      case .busy: self = .busy
      case .notCached: self = .notCached
      case .storage: self = .notSaved
      case .mismatch: self = .mismatch
      case .cancelled: self = .cancelled
      case .other: self = .other
      }
    }

    private init(_ kind: TransportFailure.Kind) {
      switch kind {
      case .offline: self = .offline
      case .dns: self = .dns
      case .connect: self = .connect
      case .tls(.notPinned): self = .notPinned
      case .tls: self = .tls
      case .proxy(.unreachable), .proxy(.broken): self = .proxy
      case .proxy(.credentials): self = .proxyCredentials
      case .proxy(.refused): self = .proxyRefused
      case .timeout: self = .timeout
      case .reset, .truncated: self = .connectionLost
      case .protocol, .tooManyRedirects: self = .notUnderstood
      case .tooLarge: self = .tooLarge
      case .body: self = .unreadable
      case .cancelled: self = .cancelled
      case .other: self = .other
      }
    }

    var english: Text {
      switch self {
      case .offline:
        Text(
          description: "You are offline.",
          suggestion: "Check your connection, and try again."
        )
      case .dns:
        Text(
          description: "{host} cannot be found.",
          reason: "Its name is not known, or your connection does not reach the internet.",
          suggestion: "Check your connection, and try again."
        )
      case .connect:
        Text(
          description: "{host} cannot be reached.",
          reason: "It does not take the connection.",
          suggestion: "Try again in a moment."
        )
      case .tls:
        Text(
          description: "No secure connection to {host} can be made.",
          reason: "It may be someone else who answers in its place.",
          suggestion: "Check the date of this device and the network you are in. Do not enter passwords meanwhile."
        )
      case .notPinned, .proxy, .proxyCredentials, .proxyRefused:
        betweenText
      case .timeout:
        Text(
          description: "{host} does not answer in time.",
          suggestion: "Check your connection, and try again."
        )
      case .connectionLost:
        Text(
          description: "The connection to {host} was lost.",
          suggestion: "Try again."
        )
      case .notUnderstood:
        Text(
          description: "The answer of {host} cannot be understood.",
          reason: "It is not what was asked for.",
          suggestion: "Try again later, or in another network."
        )
      case .tooLarge:
        Text(description: "The answer of {host} is too large.", suggestion: "Ask for less at a time.")
      case .unreadable:
        Text(
          description: "What you want to send cannot be read.",
          suggestion: "Check that it is still there, and choose it again."
        )
      case .captivePortal:
        Text(
          description: "This network wants you to sign in first.",
          reason: "A page for a browser came in place of the answer.",
          suggestion: "Open a page in your browser to sign in to the network, and try again."
        )
      case .noData:
        Text(description: "The answer of {host} is empty.", suggestion: "Try again later.")
      case .decoding:
        Text(
          description: "This version of the app does not understand the answer of {host}.",
          reason: "The service may have changed.",
          suggestion: "Please update the app."
        )
      default:
        statusText
      }
    }

    /// Who stands between the device and the service.
    private var betweenText: Text {
      switch self {
      case .notPinned:
        Text(
          description: "It cannot be confirmed that {host} is what answers.",
          reason: "Its key is not one that this app expects. Someone may be listening, or the key was replaced.",
          suggestion: "Try another network, or update the app. Do not enter passwords meanwhile."
        )
      case .proxyCredentials:
        Text(
          description: "The proxy in front of {host} wants you to sign in.",
          reason: "It did not get a name and a password, or refuses them.",
          suggestion: "Check the name and the password in the proxy settings."
        )
      case .proxyRefused:
        Text(
          description: "The proxy does not let you through to {host}.",
          reason: "It cannot reach the service, or does not allow it.",
          suggestion: "Try again later, or ask whoever runs your network."
        )
      default:
        Text(
          description: "The proxy in front of {host} cannot be reached.",
          reason: "It may be in trouble, or the proxy settings may be wrong.",
          suggestion: "Check the proxy settings and your connection, and try again."
        )
      }
    }

    private var statusText: Text {
      switch self {
      case .badInput:
        Text(description: "The service does not accept what you entered.", suggestion: "Check it, and try again.")
      case .unauthorised:
        Text(description: "You are not signed in.", suggestion: "Sign in, and try again.")
      case .forbidden:
        Text(description: "You are not allowed to do this.", suggestion: "Ask for access, or sign in as someone else.")
      case .notFound:
        Text(description: "It was not found.", suggestion: "Check what you are looking for.")
      case .notAcceptable:
        Text(
          description: "The service has no answer in a form that this app understands.",
          suggestion: "Please update the app."
        )
      case .conflict:
        Text(
          description: "It was changed in the meantime.",
          suggestion: "Load it again, and repeat what you wanted to do."
        )
      case .gone:
        Text(description: "It is not there any more.", suggestion: "Go back, and choose something else.")
      case .tooManyRequests:
        Text(description: "Too many requests in a short time.", suggestion: "Wait a moment, and try again.")
      case .clientError:
        Text(
          description: "The service refuses the request.",
          reason: "Its status is {status}.",
          suggestion: "Please update the app, or report this."
        )
      case .serverError:
        Text(
          description: "Server error.",
          reason: "{host} is in trouble (status {status}).",
          suggestion: "Try again later."
        )
      case .unexpectedStatus:
        Text(
          description: "{host} gives no answer to this.",
          reason: "Its status is {status}.",
          suggestion: "Try again later, or in another network."
        )
      case .invalidRequest:
        Text(
          description: "This cannot be sent.",
          reason: "It does not make a valid request.",
          suggestion: "Check what you entered."
        )
      case .circuitOpen:
        Text(
          description: "The service is in trouble.",
          reason: "It has failed several times in a row, so it is left alone for a while.",
          suggestion: "Try again later."
        )
      case .busy:
        Text(
          description: "Too much is going on at the same time.",
          reason: "As many requests run as may, and others wait before this one.",
          suggestion: "Wait a moment, and try again."
        )
      case .notCached:
        Text(description: "There is no saved copy of this.", suggestion: "Go online to load it.")
      case .notSaved:
        Text(
          description: "What was loaded could not be saved.",
          reason: "There may be too little space left, or no right to write there.",
          suggestion: "Make some space, and try again."
        )
      case .mismatch:
        Text(
          description: "What came from {host} is not what was expected.",
          reason: "It was damaged on its way, or has been changed.",
          suggestion: "Load it once more."
        )
      case .cancelled:
        Text(description: "It was cancelled.")
      case .retryAfter:
        Text(description: "Try again in {wait}.")
      case .unknownHost:
        Text(description: "the service")
      default:
        Text(description: "Something went wrong.", suggestion: "Try again.")
      }
    }
  }
}
