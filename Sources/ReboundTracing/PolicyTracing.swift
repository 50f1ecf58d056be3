#if Tracing
  import Rebound
  import ReboundHTTP
  import ReboundTelemetry
  import Tracing
  // Not the one of ReboundHTTP.
  import protocol Tracing.Span

  /// Makes spans of swift-distributed-tracing of executions of pipelines, and of their parts, as a `Stopwatch` measures them.
  ///
  ///     let tracing = PolicyTracing()
  ///     let spans = PolicySpans(of: events, whenEnded: tracing.write)
  ///
  /// They are made when an execution has ended, with the times that it had, so nothing else is a part of them. An execution is
  /// itself part of the `ServiceContext.current` of the task that it has ended in: that of the caller for an asynchronous
  /// function. Its decisions are events of the span, with what looks like a secret hidden.
  public struct PolicyTracing: Sendable {
    private struct Instant: TracerInstant {
      let nanosecondsSinceEpoch: UInt64

      init(_ sinceEpoch: Duration) {
        let (seconds, attoseconds) = sinceEpoch.components
        // A clock that is set wildly is no reason to stop: the sum is cut off at both ends.
        let (whole, isTooLong) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = whole.addingReportingOverflow(UInt64(clamping: attoseconds / 1_000_000_000))
        nanosecondsSinceEpoch = isTooLong || isOver ? .max : sum
      }

      static func < (left: Instant, right: Instant) -> Bool {
        left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
      }
    }

    private let tracer: any Tracer
    private let redaction: Redaction

    /// Makes spans with a tracer.
    ///
    /// - Parameters:
    ///   - tracer: The program's own, which has to be bootstrapped before.
    ///   - redaction: What must not be seen: an error of somebody else's may describe itself with an address.
    public init(tracer: any Tracer = InstrumentationSystem.tracer, redaction: Redaction = .standard) {
      self.tracer = tracer
      self.redaction = redaction
    }

    /// Makes a span, and those inside of it; to be handed to `PolicySpans`.
    public func write(_ span: PolicySpan) { write(span, in: ServiceContext.current ?? .topLevel) }

    private func write(_ measured: PolicySpan, in context: ServiceContext) {
      let span: any Span = tracer.startSpan(
        measured.name,
        context: context,
        ofKind: .internal,
        at: Instant(measured.wallClockStart),
        function: #function,
        file: #fileID,
        line: #line
      )
      span.attributes["rebound.part"] = SpanAttribute.string(measured.part)
      span.attributes["rebound.outcome"] = SpanAttribute.string(measured.outcome.rawValue)
      span.attributes["rebound.execution"] = SpanAttribute.int64(Int64(measured.id.execution.number))
      for event in measured.events { span.addEvent(spanEvent(event, in: measured)) }
      for child in measured.children { write(child, in: span.context) }
      if measured.outcome != .succeeded {
        span.attributes["error.type"] = SpanAttribute.string(measured.outcome.rawValue)
        span.setStatus(SpanStatus(code: .error, message: measured.outcome.rawValue))
      }
      span.end(at: Instant(measured.wallClockStart + measured.duration))
    }

    private func spanEvent(_ event: PolicyEvent, in span: PolicySpan) -> SpanEvent {
      SpanEvent(
        name: "\(event.kind.word).\(event.decision.word)",
        at: Instant(span.wallClockStart + (event.time - span.start)),
        attributes: [
          "rebound.severity": .string("\(event.severity)"), "rebound.text": .string(redaction.line(event.text)),
        ]
      )
    }
  }
#endif
