#if Tracing
  import Rebound
  import ReboundHTTP
  import StreamSupport
  import Tracing
  // Not the one of ReboundHTTP, nor the one of the standard library.
  import protocol Tracing.Span

  /// Makes spans of swift-distributed-tracing of each call of a client and, in it, of each attempt, and tells the servers
  /// which trace they are part of.
  ///
  ///     let tracing = DistributedTracing()
  ///     let client = WebAPIClient(baseURL: service, transport: transport, middleware: [Retrying(.http), tracing])
  ///       .onEvent(tracing.write)
  ///
  /// As middleware it has the tracer put its fields into each attempt, also where a redirect leads; to another origin
  /// only those that the client's `RedirectPolicy` carries. As an observer it makes the spans. A call is part of the
  /// `ServiceContext.current` of the task that begins it. The names of the attributes are those of OpenTelemetry's
  /// conventions for HTTP clients, as with `Tracing` of ReboundHTTP, which needs no package of others.
  public final class DistributedTracing: HTTPMiddleware, Sendable {
    private struct Call {
      let span: any Span
      /// Those that are under way: several where the call is hedged.
      var attempts: [Attempt] = []

      func attempt(_ number: Int) -> Attempt? { attempts.first { $0.number == number } }
    }

    private struct Attempt {
      let span: any Span
      let number: Int
      /// Whether the transport has it.
      var isSent = false
    }

    private struct FieldInjector: Injector {
      let request: HTTPRequest

      func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) {
        if carrier[key] == nil, request.mayCarry(header: key) { carrier[key] = value }
      }
    }

    private let tracer: any Tracer
    private let redaction: Redaction
    /// By the id of the call.
    private let calls = Locked<[String: Call]>([:])

    /// Makes spans with a tracer.
    ///
    /// - Parameters:
    ///   - tracer: The program's own, which has to be bootstrapped before.
    ///   - redaction: What must not be seen of addresses.
    public init(tracer: any Tracer = InstrumentationSystem.tracer, redaction: Redaction = .standard) {
      self.tracer = tracer
      self.redaction = redaction
    }

    /// Before anything is signed, whatever order they are given in.
    public var place: MiddlewarePlace { .adaptation }

    /// Sends the request with the tracer's fields, in a span of its own.
    public func answer(
      _ request: HTTPRequest,
      next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
    ) -> HTTPAnswer {
      var traced = request
      if let span = beginAttempt(of: request.id, request.attempt, request.message) {
        tracer.inject(span.context, into: &traced.message.headers, using: FieldInjector(request: request))
      }
      return next(traced)
    }

    /// Makes spans of what happens in calls; to be handed to `WebAPIClient.onEvent(_:)`.
    public func write(_ event: HTTPEvent) {
      switch event.kind {
      case .began(let message):
        let span = tracer.startSpan(event.operation, context: ServiceContext.current ?? .topLevel, ofKind: .internal)
        span.attributes["http.request.method"] = SpanAttribute.string(message.method.rawValue)
        span.attributes["url.full"] = SpanAttribute.string(redaction.url(message.url))
        span.attributes["rebound.request.id"] = SpanAttribute.string(event.requestID)
        calls.withLock { $0[event.requestID] = Call(span: span) }
      case .attemptBegan(let number, let message):
        // The middleware has begun it, if there is one.
        _ = beginAttempt(of: event.requestID, number, message)
        calls.withLock { calls in
          guard let place = calls[event.requestID]?.attempts.firstIndex(where: { $0.number == number }) else { return }
          calls[event.requestID]?.attempts[place].isSent = true
        }
      case .responded(let head):
        // It does not say whose it is; where several are under way, the end of each does.
        let attempts = calls.withLock { $0[event.requestID]?.attempts ?? [] }
        if attempts.count == 1 { attempts.first?.span.note(status: head.status) }
      case .attemptSucceeded(let number, let response):
        endAttempt(number, of: event.requestID, nil, response.head)
      case .attemptFailed(let number, let failure):
        endAttempt(number, of: event.requestID, (failure.outcome, "\(failure)"), failure.head)
      case .succeeded:
        endCall(event.requestID, nil)
      case .failed(let failure):
        endCall(event.requestID, (failure.outcome, "\(failure)"))
      case .cancelled:
        endCall(event.requestID, ("cancelled", "cancelled"))
      case .uploaded, .downloaded, .redirected, .retry, .cache, .refused, .decided:
        break
      }
    }

    /// - Returns: The span of the attempt, made now or before; `nil` if its call is unknown.
    private func beginAttempt(of id: String, _ number: Int, _ message: TransportRequest) -> (any Span)? {
      guard let call = calls.withLock({ $0[id] }) else { return nil }
      if let attempt = call.attempt(number) { return attempt.span }
      // Made with the lock open, since the tracer is somebody else's; an attempt is begun by one thread.
      let span = tracer.startSpan(message.method.rawValue, context: call.span.context, ofKind: .client)
      span.attributes["http.request.method"] = SpanAttribute.string(message.method.rawValue)
      span.attributes["url.full"] = SpanAttribute.string(redaction.url(message.url))
      if let host = message.url.host { span.attributes["server.address"] = SpanAttribute.string(host) }
      if number > 1 { span.attributes["http.request.resend_count"] = SpanAttribute.int64(Int64(number - 1)) }
      let isKnown = calls.withLock { calls in
        calls[id]?.attempts.append(Attempt(span: span, number: number))
        return calls[id] != nil
      }
      guard isKnown else {
        // Cancelled meanwhile.
        end(span, ("cancelled", "cancelled"))
        return nil
      }
      return span
    }

    private func endAttempt(
      _ number: Int,
      of id: String,
      _ failure: (type: String, text: String)?,
      _ head: ResponseHead?
    ) {
      let attempt: Attempt? = calls.withLock { calls in
        guard let place = calls[id]?.attempts.firstIndex(where: { $0.number == number }) else { return nil }
        return calls[id]?.attempts.remove(at: place)
      }
      guard let attempt else { return }
      if let head { attempt.span.note(head) }
      end(attempt.span, failure)
    }

    private func endCall(_ id: String, _ failure: (type: String, text: String)?) {
      guard let call = calls.withLock({ $0.removeValue(forKey: id) }) else { return }
      let last = call.attempts.last?.number
      for attempt in call.attempts {
        // Middleware further inside may have answered it in place of the transport, so no event has ended it; if the call
        // has failed, by its last attempt. Others may be under way when nobody waits any more, be it because something else
        // has answered.
        let isUnsent = !attempt.isSent && (failure == nil || attempt.number != last)
        end(attempt.span, isUnsent ? ("not_sent", "not sent") : failure ?? (type: "cancelled", text: "cancelled"))
      }
      end(call.span, failure)
    }

    private func end(_ span: any Span, _ failure: (type: String, text: String)?) {
      if let failure {
        span.attributes["error.type"] = SpanAttribute.string(failure.type)
        span.setStatus(SpanStatus(code: .error, message: failure.text))
      }
      span.end()
    }
  }

  extension Span {
    /// Notes the status of the answer.
    fileprivate func note(status: Int) {
      attributes["http.response.status_code"] = SpanAttribute.int64(Int64(status))
    }

    /// Notes the status of the answer, and how long its parts took, if the transport has told that.
    fileprivate func note(_ head: ResponseHead) {
      note(status: head.status)
      for (name, microseconds) in head.timings?.attributes ?? [] {
        attributes[name] = SpanAttribute.int64(Int64(microseconds))
      }
    }
  }
#endif
