import Foundation
import Rebound
import StreamSupport

/// Makes a span of each call and, in it, of each attempt, and tells the servers which trace they are part of.
///
///     let tracing = Tracing { spans.write($0) }
///     let client = WebAPIClient(baseURL: service, transport: transport, middleware: [Retrying(.http), tracing])
///       .onEvent(tracing.write)
///
/// As middleware it puts `traceparent` (W3C Trace Context) into each attempt that has none, also where a redirect leads;
/// to another origin only if the client's ``RedirectPolicy`` carries that field. As an observer it makes the spans. An
/// attempt that is a resend says so in `http.request.resend_count`.
public final class Tracing: HTTPMiddleware, RequestAdapter, Sendable {
  /// A call that is under way.
  ///
  /// Unchecked, because what changes is touched with the lock of ``ActiveSpans`` held, or when it is taken out there.
  final class Call: @unchecked Sendable {
    /// Whose it is.
    let tracing: ObjectIdentifier
    /// What another keeps of the same call.
    @exclusivity(unchecked) fileprivate var next: Call?
    let context: SpanContext
    let parent: SpanContext?
    let start: Duration
    let target: Span.Target
    private let address: Address
    /// What this has put into the latest attempt's request, as OpenTelemetry calls it.
    @exclusivity(unchecked) private var injected: Injected?
    /// Those that are under way: several where the call is hedged.
    @exclusivity(unchecked) private var attempts: [Attempt] = []

    init(
      _ event: HTTPEvent,
      _ message: TransportRequest,
      of tracing: Tracing,
      under parent: SpanContext?,
      start: Duration
    ) {
      self.tracing = ObjectIdentifier(tracing)
      context = SpanContext(ofCall: event.requestID, under: parent)
      (self.parent, self.start, address) = (parent, start, message.address)
      target = Span.Target(message, event.redaction)
    }

    func end(_ event: HTTPEvent, _ failure: String?, _ error: String?) -> Span {
      Span(
        context: context,
        name: event.operation,
        isAttempt: false,
        start: start,
        duration: event.elapsed,
        failure: failure,
        parent: parent,
        target: target,
        requestID: event.requestID,
        errorType: error
      )
    }

    fileprivate func inject(_ injected: Injected) -> Injected {
      self.injected = injected
      return injected
    }

    func begin(_ number: Int, _ message: TransportRequest, _ event: HTTPEvent) {
      let text = message.headers["traceparent"]
      let known = injected.flatMap { $0.text == text ? $0.context : nil }
      let attempt = Attempt(
        number: number,
        context: known ?? text.flatMap { SpanContext(traceparent: $0) }
          ?? SpanContext(ofCall: event.requestID, attempt: number, under: parent),
        target: message.method == target.method && message.address.text == address.text
          ? target : Span.Target(message, event.redaction),
        elapsed: event.elapsed
      )
      attempts.removeAll { $0.number == number }
      attempts.append(attempt)
    }

    /// The event does not say whose status it is; where several are under way, the end of each does.
    func answer(_ status: Int) {
      if attempts.count == 1 { attempts[0].status = status }
    }

    /// The span of an attempt that is under way, if it is, which is over by this.
    ///
    /// - Parameter number: `nil` for any of them.
    func endAttempt(
      _ number: Int?,
      _ event: HTTPEvent,
      _ failure: String?,
      _ error: String?,
      status: Int? = nil,
      timings: TransportTimings? = nil
    ) -> Span? {
      guard let place = attempts.firstIndex(where: { number == nil || $0.number == number }) else { return nil }
      let attempt = attempts.remove(at: place)
      return Span(
        context: attempt.context,
        name: attempt.target.method.rawValue,
        isAttempt: true,
        start: start + attempt.elapsed,
        duration: event.elapsed - attempt.elapsed,
        failure: failure,
        parent: context,
        target: attempt.target,
        status: attempt.status ?? status,
        attempt: attempt.number,
        timings: timings,
        errorType: error
      )
    }
  }

  fileprivate struct Injected {
    let text: String
    let context: SpanContext

    init(_ context: SpanContext) { (text, self.context) = (context.traceparent, context) }
  }

  private struct Attempt {
    let number: Int
    let context: SpanContext
    let target: Span.Target
    let elapsed: Duration
    var status: Int?
  }

  private let parent: @Sendable () -> SpanContext?
  private let time: TimeSource
  private let whenEnded: @Sendable (Span) -> Void

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

  /// Before anything is signed, whatever order they are given in.
  public var place: MiddlewarePlace { .adaptation }

  func adapt(_ request: inout HTTPRequest) {
    guard request.mayCarry(header: "traceparent"), !request.message.headers.contains(name: "traceparent") else {
      return
    }
    let known = request.call.watched?.spans.change(of: self) { call in
      call.inject(Injected(SpanContext(ofCall: request.id, attempt: request.attempt, under: call.parent)))
    }
    let injected = known ?? Injected(SpanContext(ofCall: request.id, attempt: request.attempt, under: nil))
    request.message.headers.add("traceparent", injected.text)
  }

  /// Makes spans of what happens in calls; to be handed to ``WebAPIClient/onEvent(_:)``.
  public func write(_ event: HTTPEvent) {
    switch event.kind {
    case .began(let message):
      let start = time.wallClock - event.elapsed
      event.call.spans.add(Call(event, message, of: self, under: parent(), start: start))
    case .attemptBegan(let number, let message):
      event.call.spans.change(of: self) { $0.begin(number, message, event) }
    case .responded(let head):
      event.call.spans.change(of: self) { $0.answer(head.status) }
    case .attemptSucceeded(let number, let response):
      endAttempt(number, event, nil, nil, response.head)
    case .attemptFailed(let number, let failure):
      endAttempt(number, event, "\(failure)", failure.outcome, failure.head)
    case .succeeded:
      endCall(event, nil, nil)
    case .failed(let failure):
      endCall(event, "\(failure)", failure.outcome)
    case .cancelled:
      endCall(event, "cancelled", "cancelled")
    case .uploaded, .downloaded, .redirected, .retry, .cache, .refused, .decided:
      break
    }
  }

  private func endAttempt(
    _ number: Int,
    _ event: HTTPEvent,
    _ failure: String?,
    _ error: String?,
    _ head: ResponseHead?
  ) {
    let span = event.call.spans.change(of: self) {
      $0.endAttempt(number, event, failure, error, status: head?.status, timings: head?.timings)
    }
    if let span { whenEnded(span) }
  }

  private func endCall(_ event: HTTPEvent, _ failure: String?, _ error: String?) {
    guard let call = event.call.spans.remove(of: self) else { return }
    // Those that were under way when nobody waited any more, be it because something else has answered.
    while let span = call.endAttempt(nil, event, failure ?? "cancelled", error ?? "cancelled") { whenEnded(span) }
    whenEnded(call.end(event, failure, error))
  }
}

/// The spans of a call that are under way, as each ``Tracing`` that watches it has them: nearly always there is one.
struct ActiveSpans: ~Copyable, Sendable {
  private let first = Locked<Tracing.Call?>(nil)

  func add(_ call: Tracing.Call) {
    first.withLock { first in
      call.next = first
      first = call
    }
  }

  /// Changes what a tracing keeps, with the lock held; `nil` where it keeps nothing, be it before the beginning or after the end.
  @discardableResult
  func change<Result>(of tracing: Tracing, _ body: (Tracing.Call) -> Result?) -> Result? {
    first.withLock { first in
      var next = first
      while let call = next {
        if call.tracing == ObjectIdentifier(tracing) { return body(call) }
        next = call.next
      }
      return nil
    }
  }

  /// Takes out what a tracing keeps.
  func remove(of tracing: Tracing) -> Tracing.Call? {
    first.withLock { first in
      var (before, next): (Tracing.Call?, Tracing.Call?) = (nil, first)
      while let call = next {
        next = call.next
        if call.tracing == ObjectIdentifier(tracing) {
          if let before { before.next = next } else { first = next }
          return call
        }
        before = call
      }
      return nil
    }
  }
}
