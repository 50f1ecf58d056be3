import Combine
import Foundation
import Rebound
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Publisher where Output == (data: Data, response: URLResponse), Failure == URLError {
  /// The same publisher, which reports each attempt as a client of `ReboundHTTP` would.
  ///
  /// - `http_client_attempts`, a counter with the labels `operation` and `resend`: "true" for each subscription after the
  ///   first.
  /// - `http_client_attempt_duration_seconds`, a histogram with the labels `operation` and `outcome`: a status, or the
  ///   kind of the failure in one word. Attempts that are cancelled have no duration.
  ///
  /// - Parameters:
  ///   - sink: Gets the measurements; `nil` leaves everything as it is.
  ///   - operation: What the request is called: the same for all users, cities and keys, or each would be a series.
  ///   - time: Measures the attempts.
  public func reporting(
    to sink: (any MetricsSink)?,
    as operation: String,
    time: TimeSource = .current
  ) -> AnyPublisher<Output, Failure> {
    guard let sink else { return eraseToAnyPublisher() }
    sink.describe("http_client_attempts", as: "Requests that were sent.")
    sink.describe("http_client_attempt_duration_seconds", as: "How long requests took, each attempt by itself.")
    let label = Metric.Label("operation", operation)
    let attempts = AttemptCount()
    return Deferred { () -> Publishers.HandleEvents<Self> in
      let start = time.now
      let record = { (outcome: String) in
        let (seconds, attoseconds) = (time.now - start).components
        sink.record(
          Double(seconds) + Double(attoseconds) / 1e18,
          in: Metric("http_client_attempt_duration_seconds", label, .init("outcome", outcome))
        )
      }
      sink.add(1, to: Metric("http_client_attempts", label, .init("resend", attempts.next() > 1 ? "true" : "false")))
      return handleEvents(
        receiveOutput: { record(($0.response as? HTTPURLResponse).map { "\($0.statusCode)" } ?? "other") },
        receiveCompletion: { if case .failure(let error) = $0 { record(error.word) } }
      )
    }
    .eraseToAnyPublisher()
  }
}

/// Counts the attempts of one request, which may be subscribed to on any thread.
private final class AttemptCount: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

extension URLError {
  /// The kind of a failure, in the words of `ReboundHTTP`'s own metrics.
  fileprivate var word: String {
    switch code {
    case .timedOut: "timeout"
    case .notConnectedToInternet, .dataNotAllowed: "offline"
    case .cannotFindHost, .dnsLookupFailed: "dns"
    case .cannotConnectToHost: "connect"
    case .networkConnectionLost: "reset"
    // Foundation on Linux tells these two from others by their text alone, which is libcurl's.
    case .badServerResponse where localizedDescription.contains("Empty reply"): "reset"
    case .unknown where localizedDescription.contains("transfer closed"): "truncated"
    case .cancelled: "cancelled"
    default: "other"
    }
  }
}
