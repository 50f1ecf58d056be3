import Foundation
import Rebound
import StreamSupport

/// Makes a span of each call and, in it, of each attempt, and tells the servers which trace they are part of.
///
///     let tracing = Tracing { spans.write($0) }
///     let client = WebAPIClient(baseURL: service, transport: transport, middleware: [Retrying(.http), tracing])
///       .onEvent(tracing.write)
///
/// As middleware it puts `traceparent` (W3C Trace Context) into each attempt that has none; as an observer it makes the
/// spans. An attempt that is a resend says so in `http.request.resend_count`.
public final class Tracing: Middleware, Sendable {
  private struct Call {
    let trace: SpanContext
    let parentID: String?
    let start: Duration
    var method: HTTPMethod
    var url: URL
    /// Of the address and the method, which the attempts mostly share.
    let attributes: [String: Span.Value]
    var injected: Injected?
    var attempt: Attempt?
  }

  /// What this has put into a request, as OpenTelemetry calls it.
  private struct Injected {
    let text: String
    let context: SpanContext
  }

  private struct Attempt {
    let number: Int
    let context: SpanContext
    let message: TransportRequest
    let elapsed: Duration
    var status: Int?
  }

  private let parent: @Sendable () -> SpanContext?
  private let time: TimeSource
  private let whenEnded: @Sendable (Span) -> Void
  /// By the id of the call, which has one attempt at a time.
  private let calls = Locked<[String: Call]>([:])

  /// Makes spans.
  ///
  /// - Parameters:
  ///   - parent: What sets a call off, asked when it begins: the span of the request that a server is answering; by
  ///     default each call is a trace of its own.
  ///   - time: Its wall clock says when a span begins.
  ///   - whenEnded: Gets each span when it is over, attempts before their call; on whichever thread that is, with no lock
  ///     held.
  public init(
    under parent: @escaping @Sendable () -> SpanContext? = { nil },
    time: TimeSource = .current,
    whenEnded: @escaping @Sendable (Span) -> Void
  ) {
    self.parent = parent
    self.time = time
    self.whenEnded = whenEnded
  }

  /// Sends the request with the context of its attempt.
  public func exchange(
    _ request: HTTPRequest,
    next: @escaping @Sendable (HTTPRequest) -> HTTPExchange
  ) -> HTTPExchange {
    guard request.message.headers["traceparent"] == nil else { return next(request) }
    let trace = calls.withLock { $0[request.id]?.trace }
    let context = Self.context(request.id, request.attempt, in: trace)
    let injected = Injected(text: context.traceparent, context: context)
    calls.withLock { $0[request.id]?.injected = injected }
    var request = request
    request.message.headers["traceparent"] = injected.text
    return next(request)
  }

  /// Makes spans of what happens in calls; to be handed to ``WebAPIClient/onEvent(_:)``.
  public func write(_ event: HTTPEvent) {
    switch event.kind {
    case .began(let method, let url):
      begin(event, method, url)
    case .attemptBegan(let number, let message):
      let text = message.headers["traceparent"]
      calls.withLock { calls in
        guard let call = calls[event.requestID] else { return }
        let known = call.injected.flatMap { $0.text == text ? $0.context : nil }
        calls[event.requestID]?.attempt = Attempt(
          number: number,
          context: known ?? text.flatMap { SpanContext(traceparent: $0) }
            ?? Self.context(event.requestID, number, in: call.trace),
          message: message,
          elapsed: event.elapsed
        )
      }
    case .responded(let head):
      calls.withLock { $0[event.requestID]?.attempt?.status = head.status }
    case .attemptSucceeded:
      endAttempt(event, failure: nil)
    case .attemptFailed(_, let failure):
      endAttempt(event, failure: failure)
    case .succeeded:
      endCall(event, failure: nil, error: nil)
    case .failed(let failure):
      endCall(event, failure: "\(failure)", error: failure.outcome)
    case .cancelled:
      endCall(event, failure: "cancelled", error: "cancelled")
    case .uploaded, .downloaded, .redirected, .retry, .cache, .refused:
      break
    }
  }

  private static func context(_ id: String, _ attempt: Int, in trace: SpanContext?) -> SpanContext {
    SpanContext(
      traceID: trace?.traceID ?? SpanContext.traceID(ofCall: id),
      spanID: SpanContext.spanID(ofCall: id, attempt: attempt),
      isSampled: trace?.isSampled ?? true
    )
  }

  private func begin(_ event: HTTPEvent, _ method: HTTPMethod, _ url: URL) {
    let parent = parent()
    let call = Call(
      trace: SpanContext(
        traceID: parent?.traceID ?? SpanContext.traceID(ofCall: event.requestID),
        spanID: SpanContext.spanID(ofCall: event.requestID),
        isSampled: parent?.isSampled ?? true
      ),
      parentID: parent?.spanID,
      start: time.wallClock - event.elapsed,
      method: method,
      url: url,
      attributes: Self.attributes(method, url, event.redaction)
    )
    calls.withLock { $0[event.requestID] = call }
  }

  private func endAttempt(_ event: HTTPEvent, failure: NetworkFailure?) {
    let ended: (call: Call, attempt: Attempt)? = calls.withLock { calls in
      guard let call = calls[event.requestID], let attempt = call.attempt else { return nil }
      calls[event.requestID]?.attempt = nil
      return (call, attempt)
    }
    guard let (call, attempt) = ended else { return }
    tell(attempt, of: call, event, failure.map { "\($0)" }, error: failure?.outcome)
  }

  private func endCall(_ event: HTTPEvent, failure: String?, error: String?) {
    guard let call = calls.withLock({ $0.removeValue(forKey: event.requestID) }) else { return }
    // One that was under way when nobody waited any more.
    if let attempt = call.attempt { tell(attempt, of: call, event, failure, error: error) }
    var attributes = call.attributes
    attributes["rebound.request.id"] = .text(event.requestID)
    attributes["error.type"] = error.map { .text($0) }
    whenEnded(
      Span(
        context: call.trace,
        parentID: call.parentID,
        name: event.operation,
        isAttempt: false,
        start: call.start,
        duration: event.elapsed,
        attributes: attributes,
        failure: failure
      )
    )
  }

  private func tell(_ attempt: Attempt, of call: Call, _ event: HTTPEvent, _ failure: String?, error: String?) {
    let (method, url) = (attempt.message.method, attempt.message.url)
    let isSame = method == call.method && url == call.url
    var attributes = isSame ? call.attributes : Self.attributes(method, url, event.redaction)
    attributes["http.response.status_code"] = attempt.status.map { .number($0) }
    attributes["http.request.resend_count"] = attempt.number > 1 ? .number(attempt.number - 1) : nil
    attributes["error.type"] = error.map { .text($0) }
    whenEnded(
      Span(
        context: attempt.context,
        parentID: call.trace.spanID,
        name: attempt.message.method.rawValue,
        isAttempt: true,
        start: call.start + attempt.elapsed,
        duration: event.elapsed - attempt.elapsed,
        attributes: attributes,
        failure: failure
      )
    )
  }

  private static func attributes(_ method: HTTPMethod, _ url: URL, _ redaction: Redaction) -> [String: Span.Value] {
    var attributes: [String: Span.Value] = [
      "http.request.method": .text(method.rawValue), "url.full": .text(redaction.url(url)),
    ]
    attributes["server.address"] = url.host.map { .text($0) }
    attributes["server.port"] = (url.port ?? defaultPort(of: url.scheme)).map { .number($0) }
    return attributes
  }

  private static func defaultPort(of scheme: String?) -> Int? {
    switch scheme {
    case "http": 80
    case "https": 443
    default: nil
    }
  }
}
