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
      var attributes = SpanAttributes()
      var status: SpanStatus?
      var endCount = 0
    }

    let number: Int
    let parent: Int?
    let kind: SpanKind
    let context: ServiceContext
    private let state: Mutex<State>

    init(_ operationName: String, _ number: Int, in parent: ServiceContext, _ kind: SpanKind) {
      (self.number, self.parent, self.kind) = (number, parent[NumberKey.self], kind)
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
    var status: SpanStatus? { state.withLock { $0.status } }
    var endCount: Int { state.withLock { $0.endCount } }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { state.withLock { $0.endCount += 1 } }
  }

  private let made = Mutex<[Span]>([])

  var spans: [Span] { made.withLock { $0 } }

  func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
  where Inject.Carrier == Carrier {
    if let number = context[NumberKey.self] { injector.inject("\(number)", forKey: "trace", into: &carrier) }
  }

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
    return made.withLock { made in
      let span = Span(operationName, made.count, in: context, kind)
      made.append(span)
      return span
    }
  }
}
