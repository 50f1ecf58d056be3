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
/// that was cut off, by a deadline or because nobody waited any more, never answers when it is replayed; one that goes on
/// for another call, which has joined it, is not cut off.
/// Bodies that are no text are in base64. ReboundHTTPTesting's cassettes replay what is exported here.
public final class HARLog: Sendable {
  private struct State {
    /// By the id of the call, which has several attempts at a time where it is hedged; in the order in which they began.
    var pending = LeastRecentlyUsed<String, [Pending]>()
    var entries: [Kept] = []

    /// - Returns: What it was too many for: an attempt that begins just when its call ends has no end that is told.
    mutating func add(_ attempt: Pending, of requestID: String, atMost limit: Int) -> [Pending]? {
      _ = pending.set((pending.peek(requestID) ?? []) + [attempt], for: requestID)
      return pending.count > limit ? pending.removeOldest()?.value : nil
    }

    mutating func take(_ number: Int?, of requestID: String) -> Pending? {
      guard var attempts = pending.remove(requestID) else { return nil }
      let place = attempts.firstIndex { number == nil || $0.number == number }
      let taken = place.map { attempts.remove(at: $0) }
      if !attempts.isEmpty { _ = pending.set(attempts, for: requestID) }
      return taken
    }
  }

  private struct Kept {
    let entry: HAR.Entry
    let requestID: String
    /// An attempt that was cut off, without its body; it goes on if another call has joined it.
    let cutOff: Pending?

    func isCutOff(_ number: Int?, of call: String) -> Bool {
      cutOff.map { $0.number == number } ?? false && requestID == call
    }
  }

  private struct Pending {
    let number: Int
    var message: TransportRequest
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
  ///   - limit: How many attempts are kept, the last ones; and of how many calls at once.
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
      let left = state.withLock { state in
        (state.take(number, of: event.requestID), state.add(attempt, of: event.requestID, atMost: limit))
      }
      withExtendedLifetime(left) {}
    case .attemptSucceeded(let number, let response):
      let answer = HAR.Response(response.head, response.body, event.redaction)
      end(event, number, answer, timings: response.head.timings)
    case .attemptFailed(let number, let failure):
      let response = failure.head.map { HAR.Response($0, failure.body, event.redaction) }
      end(event, number, response ?? .none, failure, timings: failure.head?.timings)
    case .succeeded, .failed, .cancelled:
      // Those that are still under way have no end of their own.
      while end(event, nil, .none) {}
    default:
      break
    }
  }

  /// - Parameter number: Of the attempt that has ended; `nil` for one that is cut off.
  /// - Returns: Whether there was one.
  @discardableResult
  private func end(
    _ event: HTTPEvent,
    _ number: Int?,
    _ response: HAR.Response,
    _ failure: NetworkFailure? = nil,
    timings: TransportTimings? = nil
  ) -> Bool {
    let isCutOff = number == nil
    let (pending, late) = state.withLock { state -> (Pending?, Kept?) in
      if let attempt = state.take(number, of: event.requestID) { return (attempt, nil) }
      return (nil, isCutOff ? nil : state.entries.last { $0.isCutOff(number, of: event.requestID) })
    }
    guard var attempt = pending ?? late?.cutOff else { return false }
    let time = (event.elapsed - attempt.elapsed).inSeconds * 1_000
    let body: Data? = if case .data(let data) = attempt.message.body { data } else { nil }
    let name = "\(event.operation), attempt \(attempt.number), request \(event.requestID)"
    // It quotes the server and the system, who may quote the request.
    let comment = failure.map { attempt.redaction.archived(detail: "\($0)", of: attempt.message) }
    let entry = HAR.Entry(
      startedDateTime: HAR.text(attempt.start),
      time: time,
      request: late?.entry.request ?? HAR.Request(attempt.message, body: body, attempt.redaction),
      response: response,
      timings: HAR.Timings(timings, total: time),
      comment: comment ?? (isCutOff ? "\(name): cut off" : name),
      failure: failure?.transport.map { HAR.Failure($0, of: attempt.message, attempt.redaction) },
      events: isCutOff ? [] : nil
    )
    attempt.message.body = .none
    let kept = Kept(entry: entry, requestID: event.requestID, cutOff: isCutOff ? attempt : nil)
    state.withLock { state in
      if late != nil {
        // It may have gone since then, as the first ones do.
        let place = state.entries.lastIndex { $0.isCutOff(number, of: event.requestID) }
        if let place { state.entries[place] = kept }
        return
      }
      if state.entries.count == limit { state.entries.removeFirst() }
      state.entries.append(kept)
    }
    return true
  }

  /// The attempts as a file of HTTP Archive 1.2.
  public func export() throws -> Data {
    try HAR(state.withLock { $0.entries.map(\.entry) }).encoded()
  }
}
