import Foundation
import Rebound
import StreamSupport

/// Keeps spans, for tests and for a file that collectors of traces read.
///
///     let spans = SpanLog()
///     let tracing = Tracing(whenEnded: spans.write)
///     …
///     try spans.export(service: "weather").write(to: file)
public final class SpanLog: Sendable {
  private struct State {
    var kept: [Span] = []
    var dropped = 0
  }

  private let limit: Int
  private let state = Locked(State())

  /// Makes an empty log.
  ///
  /// - Parameter limit: How many spans are kept, the last ones.
  public init(limit: Int = 10_000) {
    self.limit = max(limit, 1)
  }

  /// Keeps a span; made to be handed to ``Tracing``.
  public func write(_ span: Span) {
    state.withLock { state in
      if state.kept.count == limit {
        state.kept.removeFirst()
        state.dropped += 1
      }
      state.kept.append(span)
    }
  }

  /// The spans, in the order in which they ended.
  public var spans: [Span] { state.withLock { $0.kept } }
  /// How many more there were.
  public var droppedCount: Int { state.withLock { $0.dropped } }

  /// The spans as OpenTelemetry's protocol has them in JSON (OTLP 1.x, `ExportTraceServiceRequest`).
  ///
  /// - Parameter service: The name of this program.
  public func export(service: String) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(OTLP(spans, service: service))
  }
}

/// The parts of the protocol that are filled in; numbers of 64 bits are texts in it.
private struct OTLP: Encodable {
  struct Resource: Encodable {
    let attributes: [Attribute]
  }

  struct ResourceSpans: Encodable {
    let resource: Resource
    let scopeSpans: [ScopeSpans]
  }

  struct ScopeSpans: Encodable {
    let scope: [String: String]
    let spans: [Entry]
  }

  struct Attribute: Encodable {
    struct Value: Encodable {
      var stringValue: String?
      var intValue: String?
    }

    let key: String
    let value: Value

    init(_ key: String, _ value: Span.Value) {
      self.key = key
      switch value {
      case .text(let text): self.value = Value(stringValue: text)
      case .number(let number): self.value = Value(intValue: "\(number)")
      }
    }
  }

  struct Status: Encodable {
    let code: Int
    let message: String?
  }

  struct Entry: Encodable {
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [Attribute]
    let status: Status

    init(_ span: Span) {
      traceId = span.context.traceID
      spanId = span.context.spanID
      parentSpanId = span.parentID
      name = span.name
      // Internal, and client.
      kind = span.isAttempt ? 3 : 1
      startTimeUnixNano = OTLP.nanoseconds(span.start)
      endTimeUnixNano = OTLP.nanoseconds(span.start + span.duration)
      attributes = span.attributes.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) }
      // Error, and unset: whether it is well is not for a library to say.
      status = Status(code: span.failure == nil ? 0 : 2, message: span.failure)
    }
  }

  let resourceSpans: [ResourceSpans]

  init(_ spans: [Span], service: String) {
    let scope = ScopeSpans(scope: ["name": "Rebound"], spans: spans.map(Entry.init))
    let resource = Resource(attributes: [Attribute("service.name", .text(service))])
    resourceSpans = [ResourceSpans(resource: resource, scopeSpans: [scope])]
  }

  /// Put together as digits, since the product may be too large for an integer if the device's clock is wild.
  private static func nanoseconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = max(duration, .zero).components
    let fraction = "\(attoseconds / 1_000_000_000)"
    return (seconds > 0 ? "\(seconds)" + String(repeating: "0", count: 9 - fraction.count) : "") + fraction
  }
}
