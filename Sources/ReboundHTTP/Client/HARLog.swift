import Foundation
import Rebound
import StreamSupport

/// Keeps the attempts of calls, for a file that browsers and proxies open (HTTP Archive 1.2), without secrets.
///
///     let log = HARLog()
///     let client = client.onEvent(log.write)
///     …
///     try log.export().write(to: file)
///
/// Every attempt is an entry, a retried call has several, one that failed has the status 0 and says why in its comment. One
/// that was cut off, by a deadline or because nobody waited any more, never answers when it is replayed.
/// Bodies that are no text are in base64. ReboundTesting's cassettes replay what is exported here.
public final class HARLog: Sendable {
  private struct State {
    /// By the id of the call, which has one attempt at a time.
    var pending: [String: Pending] = [:]
    var entries: [HAR.Entry] = []
  }

  private struct Pending {
    let number: Int
    let message: TransportRequest
    let redaction: Redaction
    let start: HTTPDate
    let elapsed: Duration
  }

  private let limit: Int
  private let time: TimeSource
  private let state = Locked(State())

  /// Makes an empty log.
  ///
  /// - Parameters:
  ///   - limit: How many attempts are kept, the last ones.
  ///   - time: Its wall clock says when an attempt begins.
  public init(limit: Int = 1_000, time: TimeSource = .current) {
    self.limit = max(limit, 1)
    self.time = time
  }

  /// Keeps what belongs to an attempt; made to be handed to ``WebAPIClient/onEvent(_:)``.
  public func write(_ event: HTTPEvent) {
    switch event.kind {
    case .attemptBegan(let number, let message):
      let attempt = Pending(
        number: number,
        message: message,
        redaction: event.redaction,
        start: HTTPDate(since1970: time.wallClock),
        elapsed: event.elapsed
      )
      let before = state.withLock { $0.pending.updateValue(attempt, forKey: event.requestID) }
      withExtendedLifetime(before) {}
    case .attemptSucceeded(_, let response):
      end(event, HAR.Response(response.head, response.body, event.redaction))
    case .attemptFailed(_, let failure):
      let response = failure.head.map { HAR.Response($0, failure.body, event.redaction) }
      end(event, response ?? .none, failure)
    case .succeeded, .failed, .cancelled:
      // One that is still under way has no end of its own.
      end(event, .none, isCutOff: true)
    default:
      break
    }
  }

  private func end(
    _ event: HTTPEvent,
    _ response: HAR.Response,
    _ failure: NetworkFailure? = nil,
    isCutOff: Bool = false
  ) {
    let attempt = state.withLock { $0.pending.removeValue(forKey: event.requestID) }
    guard let attempt else { return }
    let time = (event.elapsed - attempt.elapsed).inSeconds * 1_000
    let body: Data? = if case .data(let data) = attempt.message.body { data } else { nil }
    let name = "\(event.operation), attempt \(attempt.number), request \(event.requestID)"
    let entry = HAR.Entry(
      startedDateTime: HAR.text(attempt.start),
      time: time,
      request: HAR.Request(attempt.message, body: body, attempt.redaction),
      response: response,
      timings: HAR.Timings(wait: time),
      comment: failure.map { "\($0)" } ?? (isCutOff ? "\(name): cut off" : name),
      failure: failure?.transport.map { HAR.Failure($0, of: attempt.message, attempt.redaction) },
      events: isCutOff ? [] : nil
    )
    state.withLock { state in
      if state.entries.count == limit { state.entries.removeFirst() }
      state.entries.append(entry)
    }
  }

  /// The attempts as a file of HTTP Archive 1.2.
  public func export() throws -> Data {
    try HAR(state.withLock { $0.entries }).encoded()
  }
}
