import Rebound

extension WebAPIClient {
  /// The same client, which reports what its calls cost.
  ///
  /// - `http_client_attempts`, a counter with the labels `operation` and `resend`: "true" for all but the first of a call.
  /// - `http_client_attempt_duration_seconds`, a histogram with the labels `operation` and `outcome`.
  /// - `http_client_call_duration_seconds`, the same for whole calls, with all attempts and pauses.
  /// - `http_client_cache`, a counter with the labels `operation` and `decision`.
  /// - `http_client_retry_delay_seconds`, a histogram with the label `operation`.
  ///
  /// An outcome is a status ("200", "503"), or the kind of the failure ("timeout", "decoding", "cancelled"); "cache" for a
  /// call that a copy has answered. Attempts that are cancelled have no duration.
  ///
  /// - Parameter sink: Gets the measurements, on whichever thread a call goes on.
  public func reporting(to sink: some MetricsSink) -> WebAPIClient {
    onEvent { event in event.report(to: sink) }
  }
}

extension HTTPEvent {
  fileprivate func report(to sink: some MetricsSink) {
    let operation = Metric.Label("operation", operation)
    func record(_ duration: Duration, in name: String, _ outcome: String) {
      sink.record(duration.inSeconds, in: Metric(name, operation, .init("outcome", outcome)))
    }
    switch kind {
    case .attemptBegan(let attempt, _):
      sink.add(1, to: Metric("http_client_attempts", operation, .init("resend", attempt > 1 ? "true" : "false")))
    case .attemptSucceeded(_, let response):
      record(response.duration, in: "http_client_attempt_duration_seconds", "\(response.status)")
    case .attemptFailed(_, let failure):
      record(failure.call.duration, in: "http_client_attempt_duration_seconds", failure.outcome)
    case .succeeded(.network):
      record(elapsed, in: "http_client_call_duration_seconds", "success")
    case .succeeded(.cache):
      record(elapsed, in: "http_client_call_duration_seconds", "cache")
    case .failed(let failure):
      record(elapsed, in: "http_client_call_duration_seconds", failure.outcome)
    case .cancelled:
      record(elapsed, in: "http_client_call_duration_seconds", "cancelled")
    case .cache(let decision):
      sink.add(1, to: Metric("http_client_cache", operation, .init("decision", decision.word)))
    case .retry(let event):
      if let delay = event.delay, event.outcome == .retrying {
        sink.record(delay.inSeconds, in: Metric("http_client_retry_delay_seconds", operation))
      }
    case .began, .uploaded, .redirected, .responded, .downloaded, .refused:
      break
    }
  }
}

extension HTTPEvent.CacheDecision {
  fileprivate var word: String {
    switch self {
    case .miss: "miss"
    case .hit: "hit"
    case .revalidating: "revalidating"
    case .stored: "stored"
    case .invalidated: "invalidated"
    }
  }
}

extension NetworkFailure {
  /// The status, or the kind in one word: one of some forty, for labels and for `error.type` of a span.
  var outcome: String {
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
    case .invalidRequest: "invalid_request"
    case .circuitOpen: "circuit_open"
    case .deadlineExceeded: "deadline"
    case .notCached: "not_cached"
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
