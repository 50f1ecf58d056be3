// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-distributed-tracing 1.4.1: the names and signatures that the adapter and its tests use.
@_exported import ServiceContextModule

public protocol Injector: Sendable {
  associatedtype Carrier
  func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol Extractor: Sendable {
  associatedtype Carrier
  func extract(key: String, from carrier: Carrier) -> String?
}

public protocol Instrument: Sendable {
  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier,
    into context: inout ServiceContext,
    using extractor: Extract
  )
  where Extract.Carrier == Carrier

  func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
  where Inject.Carrier == Carrier
}

public protocol Tracer: Instrument {
  associatedtype Span: Tracing.Span

  func forceFlush()

  func startSpan<Instant: TracerInstant>(
    _ operationName: String,
    context: @autoclosure () -> ServiceContext,
    ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant,
    function: String,
    file fileID: String,
    line: UInt
  ) -> Span
}

extension Tracer {
  public func startSpan(
    _ operationName: String,
    context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
    ofKind kind: SpanKind = .internal,
    at instant: @autoclosure () -> some TracerInstant = DefaultTracerClock.now,
    function: String = #function,
    file fileID: String = #fileID,
    line: UInt = #line
  ) -> Span {
    startSpan(
      operationName,
      context: context(),
      ofKind: kind,
      at: instant(),
      function: function,
      file: fileID,
      line: line
    )
  }
}

public protocol TracerInstant: Comparable, Hashable, Sendable {
  var nanosecondsSinceEpoch: UInt64 { get }
}

public enum DefaultTracerClock {
  public struct Timestamp: TracerInstant {
    public let nanosecondsSinceEpoch: UInt64

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
      left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
    }
  }

  public static var now: Timestamp { Timestamp(nanosecondsSinceEpoch: 0) }
}

public enum SpanKind: Hashable, Sendable {
  case server, client, producer, consumer, `internal`
}

public protocol Span: Sendable {
  var context: ServiceContext { get }
  var operationName: String { get nonmutating set }
  var attributes: SpanAttributes { get nonmutating set }
  var isRecording: Bool { get }
  func setStatus(_ status: SpanStatus)
  func addEvent(_ event: SpanEvent)
  func addLink(_ link: SpanLink)
  func recordError<Instant: TracerInstant>(
    _ error: any Error,
    attributes: SpanAttributes,
    at instant: @autoclosure () -> Instant
  )
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant)
}

extension Span {
  public func end() { end(at: DefaultTracerClock.now) }
}

public struct SpanStatus: Sendable, Equatable {
  public enum Code: Sendable {
    case ok, error
  }

  public let code: Code
  public let message: String?

  public init(code: Code, message: String? = nil) {
    (self.code, self.message) = (code, message)
  }
}

public struct SpanEvent: Sendable, Equatable {
  public let name: String
  public let attributes: SpanAttributes
  public let nanosecondsSinceEpoch: UInt64

  public init(name: String, at instant: @autoclosure () -> some TracerInstant, attributes: SpanAttributes = [:]) {
    (self.name, self.attributes) = (name, attributes)
    nanosecondsSinceEpoch = instant().nanosecondsSinceEpoch
  }
}

public struct SpanLink: Sendable {
  public let context: ServiceContext
  public let attributes: SpanAttributes

  public init(context: ServiceContext, attributes: SpanAttributes) {
    (self.context, self.attributes) = (context, attributes)
  }
}

public protocol SpanAttributeConvertible {
  func toSpanAttribute() -> SpanAttribute
}

extension SpanAttribute: SpanAttributeConvertible {
  public func toSpanAttribute() -> SpanAttribute { self }
}

extension String: SpanAttributeConvertible {
  public func toSpanAttribute() -> SpanAttribute { .string(self) }
}

extension Int: SpanAttributeConvertible {
  public func toSpanAttribute() -> SpanAttribute { .int64(Int64(self)) }
}

extension Bool: SpanAttributeConvertible {
  public func toSpanAttribute() -> SpanAttribute { .bool(self) }
}

public enum SpanAttribute: Sendable, Equatable {
  case int32(Int32)
  case int64(Int64)
  case double(Double)
  case bool(Bool)
  case string(String)
}

public struct SpanAttributes: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  private var values: [String: SpanAttribute]

  public init(_ attributes: [String: SpanAttribute]) {
    values = attributes
  }

  public init(dictionaryLiteral elements: (String, SpanAttribute)...) {
    values = [String: SpanAttribute](uniqueKeysWithValues: elements)
  }

  public subscript(_ name: String) -> (any SpanAttributeConvertible)? {
    get { values[name] }
    set { values[name] = newValue?.toSpanAttribute() }
  }
}

public enum InstrumentationSystem {
  private struct NoOpTracer: Tracer {
    struct Span: Tracing.Span {
      let context: ServiceContext
      var operationName: String {
        get { "" }
        nonmutating set {}
      }
      var attributes: SpanAttributes {
        get { [:] }
        nonmutating set {}
      }
      var isRecording: Bool { false }
      func setStatus(_ status: SpanStatus) {}
      func addEvent(_ event: SpanEvent) {}
      func addLink(_ link: SpanLink) {}
      func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
      ) {}
      func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {}
    }

    func extract<Carrier, Extract: Extractor>(
      _ carrier: Carrier,
      into context: inout ServiceContext,
      using extractor: Extract
    )
    where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext,
      into carrier: inout Carrier,
      using injector: Inject
    )
    where Inject.Carrier == Carrier {}

    func forceFlush() {}

    func startSpan<Instant: TracerInstant>(
      _ operationName: String,
      context: @autoclosure () -> ServiceContext,
      ofKind kind: SpanKind,
      at instant: @autoclosure () -> Instant,
      function: String,
      file fileID: String,
      line: UInt
    ) -> Span {
      Span(context: context())
    }
  }

  public static var tracer: any Tracer { NoOpTracer() }
}
