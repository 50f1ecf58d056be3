import Foundation
import ReboundHTTP
import StreamSupport

/// Keeps what is told about one exchange.
final class CassetteRecorder: Sendable {
  private let request: TransportRequest
  private let body: Data
  private let start: HTTPDate
  private let events = Locked<[(time: Duration, event: TransportEvent)]>([])

  init(_ request: TransportRequest, body: Data, at start: HTTPDate) {
    self.request = request
    self.body = body
    self.start = start
  }

  func write(_ event: TransportEvent, at time: Duration) {
    events.withLock { $0.append((time, event)) }
  }

  /// The exchange as far as it has come.
  func entry(_ redaction: Redaction) -> HAR.Entry {
    let events = events.withLock { $0 }
    var (head, answer, failure) = (ResponseHead?.none, Data(), TransportFailure?.none)
    var (headTime, sentTime) = (Duration?.none, Duration.zero)
    for (time, event) in events {
      switch event {
      case .sent: sentTime = time
      case .head(let some): (head, headTime) = (some, time)
      case .chunk(let chunk): answer += chunk
      case .failed(let some): failure = some
      case .finished: break
      }
    }
    let end = events.last?.time ?? .zero
    let answered = max(headTime ?? end, .zero)
    let sent = min(max(sentTime, .zero), answered)
    return HAR.Entry(
      startedDateTime: HAR.text(start),
      time: end.milliseconds,
      request: HAR.Request(request, body: body, redaction),
      response: head.map { HAR.Response($0, answer, redaction) } ?? .none,
      timings: HAR.Timings(
        send: sent.milliseconds,
        wait: (answered - sent).milliseconds,
        receive: max(end - answered, .zero).milliseconds
      ),
      failure: failure.map { HAR.Failure($0, of: request, redaction) },
      events: events.map { time, event in
        switch event {
        case .sent(let count): HAR.Event(.sent, time: time.milliseconds, bytes: count)
        case .head: HAR.Event(.head, time: time.milliseconds)
        case .chunk(let chunk): HAR.Event(.chunk, time: time.milliseconds, bytes: Int64(chunk.count))
        case .finished, .failed: HAR.Event(.end, time: time.milliseconds)
        }
      }
    )
  }
}

extension Duration {
  /// What a HAR counts, to the nanosecond; none for what is no length of time, such as the -1 of a phase that was not.
  init(milliseconds: Double?) {
    guard let milliseconds, milliseconds > 0 else {
      self = .zero
      return
    }
    // A hundred years at most: a file may say anything.
    self = .nanoseconds(Int64((min(milliseconds, 3e12) * 1e6).rounded()))
  }
}
