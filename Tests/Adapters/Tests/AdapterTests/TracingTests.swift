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

  private func client(_ transport: ScriptedTransport) throws -> WebAPIClient {
    let tracing = DistributedTracing(tracer: tracer)
    let url = try #require(URL(string: "https://a.example/v1" as String))
    let retry = RetryPolicy<NetworkFailure>(clamping: 2, backoff: .constant(.zero))
    return WebAPIClient(baseURL: url, transport: transport, middleware: [Retrying(retry), tracing])
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
    #expect(spans.map { $0.attributes["http.response.status_code"] } == [nil, .int64(503), .int64(204)])
    #expect(spans.map { $0.attributes["http.request.resend_count"] } == [nil, nil, .int64(1)])
    #expect(spans.map { $0.attributes["error.type"] } == [nil, .string("503"), nil])
    #expect(spans.map { $0.status?.code } == [nil, .error, nil])
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
