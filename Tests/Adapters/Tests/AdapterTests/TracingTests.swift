import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import ReboundTracing
import Synchronization
import Testing
import Tracing

@Suite struct TracingTests {
  private let tracer = RecordingTracer()

  private struct Forecast: Request {
    let path: RequestPath = "forecast"
    let query: Parameters = ["appid": "hush"]
    var parser: ResponseParser<Data> { .data }
  }

  /// Answers at once, and has no patience with the service.
  private struct Impatient: HTTPMiddleware {
    var place: MiddlewarePlace { .fallback }

    func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
      let head = ResponseHead(status: 200, url: request.message.url)
      let saved = Just(HTTPResponse(head: head, receivedAt: HTTPDate(secondsSinceEpoch: 0)))
      return next(request).merge(with: saved.setFailureType(to: NetworkFailure.self)).first().eraseToAnyPublisher()
    }
  }

  /// Answers the first attempts itself: it could not sign them.
  private final class Unready: HTTPMiddleware {
    private let count = Mutex(0)
    var place: MiddlewarePlace { .signing }

    func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
      let count = count.withLock { count in
        count += 1
        return count
      }
      return count < 3 ? Fail(error: request.failure(.transport(.reset))).eraseToAnyPublisher() : next(request)
    }
  }

  private func client(_ transport: ScriptedTransport, _ more: [any HTTPMiddleware] = []) throws -> WebAPIClient {
    let tracing = DistributedTracing(tracer: tracer)
    let url = try #require(URL(string: "https://a.example/v1" as String))
    let retry = RetryPolicy<NetworkFailure>(clamping: 2, backoff: .constant(.zero))
    return WebAPIClient(baseURL: url, transport: transport, middleware: [Retrying(retry), tracing] + more)
      .onEvent(tracing.write)
  }

  @Test func aCallIsASpanAndEachAttemptOneWithinIt() async throws {
    let transport = ScriptedTransport([.status(503), .status(204)])
    _ = try await client(transport).value(of: Forecast())
    let spans = tracer.spans
    try #require(spans.count == 3)
    #expect(spans.map(\.operationName) == ["Forecast", "GET", "GET"])
    #expect(spans.map(\.parent) == [nil, spans[0].number, spans[0].number])
    #expect(spans.map(\.kind) == [.internal, .client, .client])
    #expect(spans.map(\.endCount) == [1, 1, 1])
    #expect(spans.map { $0["http.response.status_code"] } == [nil, .int64(503), .int64(204)])
    #expect(spans.map { $0["http.request.resend_count"] } == [nil, nil, .int64(1)])
    #expect(spans.map { $0["error.type"] } == [nil, .string("503"), nil])
    #expect(spans.map { $0.status?.code } == [nil, .error, nil])
  }

  @Test func anAttemptThatIsCutOffEndsAsCancelledAlsoIfSomethingElseAnswers() async throws {
    _ = try await client(ScriptedTransport([.silence]), [Impatient()]).value(of: Forecast())
    let spans = tracer.spans
    #expect(spans.map(\.operationName) == ["Forecast", "GET"])
    #expect(spans.map(\.endCount) == [1, 1])
    #expect(spans.map { $0["error.type"] } == [nil, .string("cancelled")])
  }

  @Test func attemptsSideBySideAreASpanEachAndTheOneThatHasLostEndsAsCancelled() async throws {
    let hedging = Hedging(try HedgePolicy(delay: .parallel))
    _ = try await client(ScriptedTransport([.silence, .status(204)]), [hedging]).value(of: Forecast())
    let spans = tracer.spans
    #expect(spans.map(\.operationName) == ["Forecast", "GET", "GET"])
    #expect(spans.map(\.endCount) == [1, 1, 1])
    #expect(spans.map { $0["http.request.resend_count"] } == [nil, nil, .int64(1)])
    #expect(spans.map { $0["http.response.status_code"] } == [nil, nil, .int64(204)])
    #expect(spans.map { $0["error.type"] } == [nil, .string("cancelled"), nil])
  }

  @Test func anAttemptThatMiddlewareFurtherInsideAnswersEnds() async throws {
    _ = try await client(ScriptedTransport([.status(204)]), [Unready()]).value(of: Forecast())
    let spans = tracer.spans
    #expect(spans.map(\.operationName) == ["Forecast", "GET", "GET", "GET"])
    #expect(spans.map(\.endCount) == [1, 1, 1, 1])
    #expect(spans.map { $0["error.type"] } == [nil, .string("not_sent"), .string("not_sent"), nil])
  }

  @Test func anAttemptWhoseCallEndsWhileItBeginsEndsToo() async throws {
    let told = Mutex<[HTTPEvent]>([])
    let url = try #require(URL(string: "https://a.example" as String))
    let client = WebAPIClient(baseURL: url, transport: ScriptedTransport([.status(204)]))
      .onEvent { event in told.withLock { $0.append(event) } }
    _ = try await client.value(of: Forecast())
    let events = told.withLock { $0 }
    let end = try #require(events.last)
    let tracing = DistributedTracing(tracer: tracer)
    tracer.onStart { if $0 == "GET" { tracing.write(end) } }
    for event in events.dropLast() { tracing.write(event) }
    let spans = tracer.spans
    #expect(spans.map(\.operationName) == ["Forecast", "GET"])
    #expect(spans.map(\.endCount) == [1, 1])
    #expect(spans.map { $0["error.type"] } == [nil, .string("cancelled")])
  }

  @Test func eachAttemptTellsTheServerWhichSpanItIs() async throws {
    let transport = ScriptedTransport([.status(503), .status(204)])
    _ = try await client(transport).value(of: Forecast())
    #expect(transport.calls.map { $0.request.headers["trace"] } == ["1", "2"])
  }

  @Test func anotherOriginIsToldOnlyWhatTheRedirectsCarryThere() async throws {
    for (redirects, isTold) in [(RedirectPolicy.follow(), false), (.follow().carrying(header: "trace"), true)] {
      let transport = ScriptedTransport([.redirect(to: "https://other.example/"), .status(204)])
      var client = try client(transport)
      client.redirects = redirects
      _ = try await client.value(of: Forecast())
      #expect(transport.calls.map { $0.request.headers["trace"] != nil } == [true, isTold])
    }
  }

  @Test func aCallIsPartOfWhatItsTaskDoes() async throws {
    let transport = ScriptedTransport([.status(204)])
    let outer = tracer.startSpan("request", context: .topLevel)
    try await ServiceContext.$current.withValue(outer.context) {
      _ = try await client(transport).value(of: Forecast())
    }
    #expect(tracer.spans.map(\.parent) == [nil, 0, 1])
  }

  @Test func aFailureEndsBothSpansWithoutSecrets() async throws {
    let transport = ScriptedTransport([.reset, .reset, .reset])
    let client = try client(transport)
    await #expect(throws: NetworkFailure.self) { try await client.value(of: Forecast()) }
    let spans = tracer.spans
    #expect(spans.count == 4)
    #expect(spans.allSatisfy { $0.status?.code == .error && $0.endCount == 1 })
    #expect(!spans.contains { "\($0.attributes) \($0.status?.message ?? "")".contains("hush") })
  }
}
