import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

struct ClientVersion: HTTPMiddleware {
  let version: String

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    guard !request.hasLeftOrigin else { return next(request) }
    var request = request
    request.message.headers["X-Client-Version"] = version
    return next(request)
  }
}

struct MinimumVersion: HTTPMiddleware {
  let isTooOld: @Sendable () -> Bool
  var place: MiddlewarePlace { .fallback }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    guard isTooOld() else { return next(request) }
    return Fail(error: request.failure(.invalidRequest, underlying: UpdateNeeded())).eraseToAnyPublisher()
  }
}

struct UpdateNeeded: Error {}

struct SlowAnswers: HTTPMiddleware {
  let limit: Duration
  let report: @Sendable (String, Duration) -> Void
  var place: MiddlewarePlace { .protection }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    let begin = request.time.now
    return next(request)
      .handleEvents(receiveOutput: { _ in
        let took = request.time.now - begin
        if took > limit { report(request.operation, took) }
      })
      .eraseToAnyPublisher()
  }
}

/// The code of the article "Writing middleware", as it stands there.
@Suite("The code of the article on middleware")
struct WritingMiddlewareArticleTests {
  struct Forecast: Request {
    var path: RequestPath { "forecast" }
    typealias Response = [String: Int]
  }

  @Test("middleware changes what is sent, and looks at what comes")
  func middleware() async throws {
    let log = Lines()
    let scheduler = TestScheduler()
    let transport = ScriptedTransport(
      [.status(503), .ok(#"{"Rome":12}"#).after(.seconds(3))],
      time: scheduler.time
    )
    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      middleware: [
        ClientVersion(version: "2.1"),
        SlowAnswers(limit: .seconds(2)) { log.write("\($0) took \($1)") },
        Retrying(.http),
      ],
      deliveringOn: nil,
      time: scheduler.time
    )

    let recorder = Recorder<[String: Int], NetworkFailure>(on: scheduler)
    client.publisher(for: Forecast()).subscribe(recorder)
    try scheduler.run()
    #expect(recorder.values == [["Rome": 12]])
    #expect(transport.calls.map { $0.request.headers["X-Client-Version"] } == ["2.1", "2.1"])  // the retry, too
    #expect(log.all == ["Forecast took 3.0 seconds"])
  }

  @Test("middleware answers in place of the network")
  func refusal() throws {
    let transport = ScriptedTransport([.ok("{}")])
    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      middleware: [MinimumVersion { true }],
      deliveringOn: nil
    )
    var failure: NetworkFailure?
    let call = client.publisher(for: Forecast())
      .sink {
        if case .failure(let error) = $0 { failure = error }
      } receiveValue: { _ in
      }
    #expect(failure?.underlying is UpdateNeeded)
    #expect(transport.calls.isEmpty)
    call.cancel()
  }
}
