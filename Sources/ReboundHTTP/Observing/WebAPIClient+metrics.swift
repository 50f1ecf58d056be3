import Rebound
import ReboundTelemetry

extension WebAPIClient {
  /// The same client, which reports what its calls cost.
  ///
  /// - `http_client_attempts`, a counter with the labels `operation` and `resend`: "true" for all but the first of a call.
  /// - `http_client_attempt_duration_seconds`, a histogram with the labels `operation` and `outcome`.
  /// - `http_client_call_duration_seconds`, the same for whole calls, with all attempts and pauses.
  /// - `http_client_cache`, a counter with the labels `operation` and `decision`.
  /// - `http_client_retry_delay_seconds`, a histogram with the label `operation`.
  ///
  /// The outcome of an attempt is its status ("200", "503"), or else a ``NetworkFailure/outcome``; that of a whole call is
  /// "success", "cache" if a copy has answered, or the failure's. Attempts that are cancelled have no duration.
  ///
  /// - Parameter sink: Gets the measurements, on whichever thread a call goes on; with `nil` the client stays as it is.
  public func reporting(to sink: (any MetricsSink)?) -> WebAPIClient {
    guard let sink else { return self }
    sink.describe("http_client_attempts", as: "Requests that were sent.")
    sink.describe("http_client_attempt_duration_seconds", as: "How long requests took, each attempt by itself.")
    sink.describe("http_client_call_duration_seconds", as: "How long calls took, with all attempts and pauses.")
    sink.describe("http_client_cache", as: "What the caches of clients decided.")
    sink.describe("http_client_retry_delay_seconds", as: "Pauses of clients before they tried again.")
    return onEvent { event in event.report(to: sink) }
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
    case .began, .uploaded, .redirected, .responded, .downloaded, .refused, .decided:
      break
    }
  }
}

extension HTTPEvent.CacheDecision {
  /// The decision in a word.
  var word: String {
    switch self {
    case .miss: "miss"
    case .hit: "hit"
    case .revalidating: "revalidating"
    case .stored: "stored"
    case .invalidated: "invalidated"
    }
  }
}
