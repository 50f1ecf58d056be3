import Synchronization
import Tracing

/// Keeps its spans, and sends their numbers along.
final class RecordingTracer: Tracer {
  enum NumberKey: ServiceContextKey {
    typealias Value = Int
  }

  final class Span: Tracing.Span {
    private struct State {
      var operationName: String
      var attributes: SpanAttributes = [:]
      var status: SpanStatus?
      var endCount = 0
      var endTime: UInt64?
      var events: [SpanEvent] = []
    }

    let number: Int
    let parent: Int?
    let kind: SpanKind
    let startTime: UInt64
    let context: ServiceContext
    private let state: Mutex<State>

    init(_ operationName: String, _ number: Int, in parent: ServiceContext, _ kind: SpanKind, at startTime: UInt64) {
      (self.number, self.parent, self.kind, self.startTime) = (number, parent[NumberKey.self], kind, startTime)
      var context = parent
      context[NumberKey.self] = number
      self.context = context
      state = Mutex(State(operationName: operationName))
    }

    var operationName: String {
      get { state.withLock { $0.operationName } }
      set { state.withLock { $0.operationName = newValue } }
    }
    var attributes: SpanAttributes {
      get { state.withLock { $0.attributes } }
      set { state.withLock { $0.attributes = newValue } }
    }
    subscript(_ name: String) -> SpanAttribute? { attributes[name]?.toSpanAttribute() }
    var status: SpanStatus? { state.withLock { $0.status } }
    var endCount: Int { state.withLock { $0.endCount } }
    /// In nanoseconds since 1970, as that of the start.
    var endTime: UInt64? { state.withLock { $0.endTime } }
    var events: [SpanEvent] { state.withLock { $0.events } }

    var isRecording: Bool { true }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    func addEvent(_ event: SpanEvent) { state.withLock { $0.events.append(event) } }

    func addLink(_ link: SpanLink) {}

    func recordError<Instant: TracerInstant>(
      _ error: any Error,
      attributes: SpanAttributes,
      at instant: @autoclosure () -> Instant
    ) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
      let end = instant().nanosecondsSinceEpoch
      state.withLock { state in
        state.endCount += 1
        state.endTime = end
      }
    }
  }

  private let made = Mutex<[Span]>([])
  private let observer = Mutex<(@Sendable (String) -> Void)?>(nil)

  var spans: [Span] { made.withLock { $0 } }

  /// Tells the name of each span from now on, before whoever starts it has it.
  func onStart(_ observe: @escaping @Sendable (String) -> Void) { observer.withLock { $0 = observe } }

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier,
    into context: inout ServiceContext,
    using extractor: Extract
  )
  where Extract.Carrier == Carrier {}

  func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
  where Inject.Carrier == Carrier {
    if let number = context[NumberKey.self] { injector.inject("\(number)", forKey: "trace", into: &carrier) }
  }

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
    let context = context()
    let start = instant().nanosecondsSinceEpoch
    let span = made.withLock { made in
      let span = Span(operationName, made.count, in: context, kind, at: start)
      made.append(span)
      return span
    }
    observer.withLock { $0 }?(operationName)
    return span
  }
}
