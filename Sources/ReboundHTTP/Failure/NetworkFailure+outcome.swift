extension NetworkFailure {
  /// The status of the answer ("503"), or else the kind of the failure in one word: "timeout", "decoding", "cancelled".
  ///
  /// One of a few dozen words that stay the same whatever was asked for, so that it may be a label of a metric. The client's
  /// own metrics have it as the label `outcome`, its spans as `error.type`.
  public var outcome: String {
    if let status { return "\(status)" }
    return switch kind {
    case .transport(let kind): kind.word
    case .captivePortal: "captive_portal"
    case .noData: "no_data"
    case .decoding: "decoding"
    case .unexpectedContentType: "content_type"
    case .badRequest, .unauthorised, .forbidden, .notFound, .notAcceptable, .conflict, .gone, .unprocessable,
      .tooManyRequests, .clientError, .serverError, .unexpectedStatus:
      "status"
    case .redirectRefused: "redirect_refused"
    case .invalidRequest: "invalid_request"
    case .circuitOpen: "circuit_open"
    case .busy: "busy"
    case .rateLimited: "rate_limited"
    case .deadlineExceeded: "deadline"
    case .notCached: "not_cached"
    case .storage: "storage"
    case .mismatch: "mismatch"
    case .cancelled: "cancelled"
    case .other: "other"
    }
  }
}

extension TransportFailure.Kind {
  fileprivate var word: String {
    switch self {
    case .offline: "offline"
    case .dns: "dns"
    case .connect: "connect"
    case .tls: "tls"
    case .timeout: "timeout"
    case .reset: "reset"
    case .truncated: "truncated"
    case .protocol: "protocol"
    case .cancelled: "cancelled"
    case .tooManyRedirects: "too_many_redirects"
    case .tooLarge: "too_large"
    case .body: "body"
    case .proxy: "proxy"
    case .other: "other"
    }
  }
}
