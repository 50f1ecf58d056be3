// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-distributed-tracing 1.4.1: the names and signatures that the adapter and its tests use.
@_exported import ServiceContextModule

public protocol Injector: Sendable {
  associatedtype Carrier
  func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol Instrument: Sendable {
  func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
  where Inject.Carrier == Carrier
}

public protocol Tracer: Instrument {
  associatedtype Span: Tracing.Span

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

public protocol TracerInstant: Sendable {}

public enum DefaultTracerClock {
  public struct Timestamp: TracerInstant {}

  public static var now: Timestamp { Timestamp() }
}

public enum SpanKind: Hashable, Sendable {
  case server, client, producer, consumer, `internal`
}

public protocol Span: Sendable {
  var context: ServiceContext { get }
  var operationName: String { get nonmutating set }
  var attributes: SpanAttributes { get nonmutating set }
  func setStatus(_ status: SpanStatus)
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

public enum SpanAttribute: Sendable, Equatable {
  case int32(Int32)
  case int64(Int64)
  case double(Double)
  case bool(Bool)
  case string(String)
}

public struct SpanAttributes: Sendable, Equatable {
  private var values: [String: SpanAttribute]

  public init(_ attributes: [String: SpanAttribute] = [:]) {
    values = attributes
  }

  public subscript(_ name: String) -> SpanAttribute? {
    get { values[name] }
    set { values[name] = newValue }
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
        get { SpanAttributes() }
        nonmutating set {}
      }
      func setStatus(_ status: SpanStatus) {}
      func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {}
    }

    func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext,
      into carrier: inout Carrier,
      using injector: Inject
    )
    where Inject.Carrier == Carrier {}

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
