import Foundation
import Rebound
import ReboundTelemetry

extension JSONLines {
  /// Writes something that happens in a call, if anybody reads.
  ///
  ///     let lines = JSONLines(hiding: Redaction.standard.line)
  ///     let client = WebAPIClient(baseURL: service, transport: transport).writing(to: lines)
  ///
  /// Such a line has the type `http`, and
  ///
  /// - `call`: the id of the call, the same in all its lines.
  /// - `operation`: the name of the request.
  /// - `elapsed`: how long ago the call began, in seconds.
  /// - `event`: what happens: `began`, `attempt_began`, `uploaded`, `redirected`, `responded`, `downloaded`,
  ///   `attempt_succeeded`, `attempt_failed`, `retry`, `cache`, `refused`, `decided`, `succeeded`, `failed`,
  ///   `cancelled`.
  /// - `text`: the event in words, without secrets.
  ///
  /// Where they are known, there are also `method`, `url`, `attempt`, `status`, `bytes` and `total` of a body, `outcome` (as
  /// in metrics: `503`, `timeout`), `source` of a response, `duration` of an attempt, `retry_after`, and of what a policy has
  /// decided the `policy` (but for retries), the `decision` in a word, and the `details`.
  ///
  /// Calls of a client with ``WebAPIClient/writing(to:)`` are written by it.
  public func write(_ event: HTTPEvent) {
    write("http", event.fields)
  }

  /// Writes a span that has ended, if anybody reads; made to be handed to ``Tracing``.
  ///
  /// Such a line has the type `span`, and `trace`, `span`, `parent` (if there is one), `name`, `is_attempt`, `start` (seconds
  /// since the beginning of 1970), `duration`, `failure` (if there is one), and an object of `attributes`.
  public func write(_ span: Span) {
    write("span", span.fields)
  }
}

extension WebAPIClient {
  /// The same client, which writes what happens in its calls as lines of JSON.
  ///
  /// A call is written if somebody reads when it begins. While nobody does, a client that nobody else watches builds no
  /// events, as one without lines.
  ///
  /// - Parameter lines: Where to write; of several, the last ones that were given count.
  public func writing(to lines: JSONLines) -> WebAPIClient {
    var copy = self
    copy.settings.lines = lines
    return copy
  }
}

extension HTTPEvent {
  fileprivate var fields: [EventField] {
    let (word, rest) = particulars
    return [
      EventField("call", requestID), EventField("operation", operation), EventField("elapsed", elapsed),
      EventField("event", word), EventField("text", text),
    ] + rest
  }

  private var particulars: (word: String, rest: [EventField]) {
    switch kind {
    case .began(let message):
      return ("began", address(message))
    case .attemptBegan(let attempt, let message):
      return ("attempt_began", [EventField("attempt", attempt)] + address(message))
    case .uploaded(let count, let total):
      return ("uploaded", progress(count, total))
    case .redirected(let status, let url):
      return ("redirected", [EventField("status", status), EventField("url", redaction.url(url))])
    case .responded(let head):
      return ("responded", [EventField("status", head.status)])
    case .downloaded(let count, let total):
      return ("downloaded", progress(count, total))
    case .attemptSucceeded(let attempt, let response):
      return (
        "attempt_succeeded",
        [
          EventField("attempt", attempt), EventField("status", response.status),
          EventField("outcome", "\(response.status)"), EventField("duration", response.duration),
          EventField("bytes", response.body.count),
        ]
      )
    case .attemptFailed(let attempt, let failure):
      return (
        "attempt_failed",
        [EventField("attempt", attempt), EventField("duration", failure.call.duration)] + facts(of: failure)
      )
    case .retry(let event):
      return ("retry", [EventField("decision", event.word), EventField("details", event.details)])
    case .cache(let decision):
      return ("cache", [EventField("decision", decision.word)])
    case .refused(let open):
      return ("refused", open.retryAfter.map { [EventField("retry_after", $0)] } ?? [])
    case .decided(let decision):
      return (
        "decided",
        [
          EventField("policy", type(of: decision).kind.word), EventField("decision", decision.word),
          EventField("details", decision.details),
        ]
      )
    case .succeeded(let source):
      return ("succeeded", [EventField("source", "\(source)")])
    case .failed(let failure):
      return ("failed", facts(of: failure))
    case .cancelled:
      return ("cancelled", [])
    }
  }

  private func address(_ message: TransportRequest) -> [EventField] {
    [EventField("method", message.method.rawValue), EventField("url", redaction.url(message.address))]
  }

  private func progress(_ count: Int64, _ total: Int64?) -> [EventField] {
    [EventField("bytes", Int(clamping: count))] + (total.map { [EventField("total", Int(clamping: $0))] } ?? [])
  }

  private func facts(of failure: NetworkFailure) -> [EventField] {
    var fields = [EventField("outcome", failure.outcome)]
    if let status = failure.status { fields.append(EventField("status", status)) }
    if let retryAfter = failure.retryAfter { fields.append(EventField("retry_after", retryAfter)) }
    return fields
  }
}

extension Span {
  fileprivate var fields: [EventField] {
    var fields = [EventField("trace", context.traceID), EventField("span", context.spanID)]
    if let parentID { fields.append(EventField("parent", parentID)) }
    fields += [
      EventField("name", name), EventField("is_attempt", isAttempt), EventField("start", start),
      EventField("duration", duration),
    ]
    if let failure { fields.append(EventField("failure", failure)) }
    let attributes = attributes.sorted { $0.key < $1.key }.map { name, value in
      switch value {
      case .text(let text): EventField(name, text)
      case .number(let number): EventField(name, number)
      }
    }
    return fields + [EventField("attributes", attributes)]
  }
}
