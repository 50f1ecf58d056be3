import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("WebAPIClient")
struct WebAPIClientTests {
  @Test("a request gives its response, and the stream finishes")
  func response() throws {
    let test = ClientUnderTest([.ok(rome)])
    let recorder = try test.run(Forecast(city: "Rome"))
    expectEqual(recorder.values, [Place(name: "Rome", temperature: 12)])
    #expect(recorder.isFinished)
    #expect(
      test.transport.calls.map(\.request.url.absoluteString) == ["https://api.example/v1/data/2.5/weather?q=Rome"]
    )
  }

  @Test("nothing is sent before a value is requested, and each subscription is a call of its own")
  func demand() throws {
    let test = ClientUnderTest([.ok(rome), .ok(rome)])
    let publisher = test.client.publisher(for: Forecast(city: "Rome"))
    let first = Recorder<Place, NetworkFailure>(requesting: .none)
    publisher.subscribe(first)
    try test.scheduler.run()
    expectEqual(test.transport.count, 0)
    first.request(.max(1))
    try test.scheduler.run()
    #expect(first.values.count == 1 && first.isFinished)
    publisher.subscribe(Recorder<Place, NetworkFailure>())
    try test.scheduler.run()
    let ids = test.transport.calls.map { $0.request.headers["X-Request-ID"] }
    #expect(ids.count == 2 && ids[0] != ids[1])
  }

  @Test("a client is a value: what is changed in a copy does not change the client")
  func copies() {
    let test = ClientUnderTest([])
    var copy = test.client
    copy.limits = .none
    copy.deadline = .seconds(1)
    copy.deadlineHeader = "grpc-timeout"
    copy.redirects = .none
    copy.headers["User-Agent"] = "Example/1.0"
    copy.redaction = copy.redaction.hiding(header: "X-Laboratory")
    #expect(copy.limits == .none && test.client.limits == .standard)
    #expect(copy.deadline == .seconds(1) && test.client.deadline == nil)
    #expect(copy.deadlineHeader == "grpc-timeout" && test.client.deadlineHeader == nil)
    #expect(copy.redirects == .none && test.client.redirects == .follow())
    #expect(copy.headers["User-Agent"] == "Example/1.0" && test.client.headers.isEmpty)
    #expect(copy.redaction.hides(header: "X-Laboratory") && !test.client.redaction.hides(header: "X-Laboratory"))
  }

  @Test("an id has as many digits as are asked for, of every kind, from few draws", arguments: [0, 1, 16, 32])
  func digits(count: Int) {
    let draws = Draws()
    let random = RandomSource { draws.next() }
    let ids = (0..<50).map { _ in random.hexadecimal(digits: count) }
    #expect(ids.allSatisfy { $0.count == count })
    expectEqual(draws.count, 50 * ((count + 12) / 13))
    #expect(count < 16 || Set(ids.joined()) == Set("0123456789abcdef"))
    #expect(count < 16 || Set(ids).count == 50)
  }

  @Test("a request that makes no sense comes out of the publisher as a failure, and nothing is sent")
  func invalidRequest() throws {
    let test = ClientUnderTest([])
    let recorder = try test.run(Anything(path: "users/\("..")"))
    expectEqual(recorder.failure?.kind, .invalidRequest)
    #expect(recorder.failure?.invalidRequest != nil)
    expectEqual(test.transport.count, 0)
  }

  @Test(
    "no field that middleware has broken goes over the wire, wherever that stands, and no attempt begins",
    arguments: MiddlewarePlace.allCases
  )
  func brokenField(place: MiddlewarePlace) throws {
    let test = ClientUnderTest([.status(200)], [Breaking(place: place), Retrying(.http)])
    #expect(try test.run(Anything()).failure?.invalidRequest != nil)
    expectEqual(test.transport.count, 0)
    expectEqual(
      test.log.events.map { "\($0.kind)".prefix { $0 != "(" } },
      ["began", "attemptFailed", "retry", "failed"]
    )
  }

  @Test("nor does a field of the client's own that is none")
  func brokenDeadlineHeader() throws {
    var test = ClientUnderTest([.redirect(to: "/b"), .status(200)])
    test.client.deadlineHeader = "Time left"
    try expectEqual(test.run(Anything(deadline: .seconds(1))).failure?.kind, .invalidRequest)
    expectEqual(test.transport.count, 0)
  }

  @Test(
    "every status that is no success is a failure of its kind, with body and server's words",
    arguments: [
      (400, .badRequest), (401, .unauthorised), (403, .forbidden), (404, .notFound), (406, .notAcceptable),
      (409, .conflict), (418, .clientError(418)), (422, .unprocessable), (429, .tooManyRequests),
      (500, .serverError(500)), (503, .serverError(503)),
    ] as [(Int, NetworkFailure.Kind)]
  )
  func statuses(status: Int, kind: NetworkFailure.Kind) throws {
    let test = ClientUnderTest([.status(status, #"{"error":true,"reason":"No."}"#, retryAfter: 7)])
    let failure = try #require(try test.run(Forecast(city: "Rome")).failure)
    expectEqual(failure.kind, kind)
    expectEqual(failure.status, status)
    expectEqual(failure.serverMessage, "No.")
    expectEqual(failure.errorDescription, "No.")
    expectEqual(failure.body, Data(#"{"error":true,"reason":"No."}"#.utf8))
    expectEqual(failure.retryAfter, .seconds(7))
    #expect(failure.call.url == "https://api.example/v1/data/2.5/weather?q=Rome")
    #expect(failure.call.requestID != nil)
  }

  @Test("the body of a 5xx goes through the request's error parser")
  func domainError() throws {
    struct Corrupted: Error, Decodable, Equatable { let table: String }
    let test = ClientUnderTest([.status(500, #"{"table":"users"}"#)])
    let failure = try test.run(Anything(errorParser: .json(Corrupted.self))).failure
    expectEqual(failure?.domainError(Corrupted.self), Corrupted(table: "users"))
    expectEqual(failure?.kind, .serverError(500))
  }

  @Test(
    "a status is valid if the request says so",
    arguments: [(200, true), (204, true), (299, true), (300, false), (304, false), (399, false), (199, false)]
  )
  func validStatuses(status: Int, isValid: Bool) throws {
    try expectEqual(ClientUnderTest([.status(status)]).run(Anything()).isFinished, isValid)
    #expect(try ClientUnderTest([.status(status)]).run(Anything(validStatuses: 100...599)).isFinished)
  }

  @Test("another media type than required is refused, and named")
  func contentType() throws {
    struct Strict: Request {
      var path: RequestPath { "" }
      var parser: ResponseParser<Place> { .json().requiring("application/json") }
    }
    #expect(try ClientUnderTest([.ok(rome)]).run(Strict()).isFinished)
    let other = try #require(try ClientUnderTest([.ok(rome, ["Content-Type": "text/plain"])]).run(Strict()).failure)
    expectEqual(other.kind, .unexpectedContentType)
    #expect("\(other)".contains("text/plain in place of application/json"))
  }

  @Test("a captive portal's page is told from an answer that this version does not understand")
  func captivePortal() throws {
    let portal = try #require(try ClientUnderTest([.captivePortal]).run(Forecast(city: "Rome")).failure)
    expectEqual(portal.kind, .captivePortal)
    expectEqual(portal.status, 200)
    #expect(!portal.isTransient)
    #expect(portal.isOfflineLike)
    let changed = try #require(try ClientUnderTest([.ok(#"{"name":"Rome"}"#)]).run(Forecast(city: "Rome")).failure)
    expectEqual(changed.kind, .decoding)
    expectEqual(changed.decoding?.expected, "a value for 'temperature'")
    expectEqual(changed.decoding?.snippet, #"{"name":"Rome"}"#)
  }

  @Test("a page in place of an error is the status' failure, with the beginning of the page")
  func webPageAsError() throws {
    let page = Data("<html>502 Bad Gateway</html>".utf8)
    let failure = try ClientUnderTest([.response(502, ["Content-Type": "text/html"], page)]).run(Forecast(city: ""))
      .failure
    expectEqual(failure?.kind, .serverError(502))
    expectEqual(failure?.body, page)
    #expect(failure?.serverMessage == nil)
  }

  @Test("JSON that is called text/html is JSON, and a request for a page gets it")
  func mislabelled() throws {
    try expectEqual(ClientUnderTest([.ok(rome, ["Content-Type": "text/html"])]).run(Forecast(city: "")).values.count, 1)
    struct Page: Request {
      var path: RequestPath { "" }
      typealias Response = String
    }
    try expectEqual(ClientUnderTest([.captivePortal]).run(Page()).values.first?.contains("sign in"), true)
  }

  @Test("an empty answer is no data, unless the request can do without")
  func noData() throws {
    struct Maybe: Request {
      var path: RequestPath { "" }
      var parser: ResponseParser<Place?> { .jsonIfAny() }
    }
    struct Nothing: Request {
      var path: RequestPath { "" }
      typealias Response = NoContent
    }
    try expectEqual(ClientUnderTest([.status(200)]).run(Forecast(city: "")).failure?.kind, .noData)
    try expectEqual(ClientUnderTest([.status(204)]).run(Maybe()).values, [nil])
    try expectEqual(ClientUnderTest([.status(204)]).run(Nothing()).values, [NoContent()])
  }

  @Test(
    "what the network did is kept",
    arguments: [.offline, .dns, .connect, .tls(.untrusted), .timeout(.idle), .reset, .truncated, .protocol, .other]
      as [TransportFailure.Kind]
  )
  func transportFailures(kind: TransportFailure.Kind) throws {
    struct Cause: Error, Equatable { let code: Int }
    let transport = TransportFailure(kind, detail: "detail", underlying: Cause(code: 7))
    let failure = try #require(try ClientUnderTest([.failure(transport)]).run(Forecast(city: "")).failure)
    expectEqual(failure.kind, .transport(kind))
    expectEqual(failure.transport?.underlying as? Cause, Cause(code: 7))
    #expect("\(failure)".contains("detail"))
  }

  @Test("an answer that breaks off is a failure, not a shorter answer")
  func truncated() throws {
    let head = ResponseHead(status: 200, url: .service)
    let step = ScriptedTransport.Step.failure(
      TransportFailure(.truncated, bytesReceived: 4),
      after: head,
      [Data("{\"na".utf8)]
    )
    try expectEqual(ClientUnderTest([step]).run(Forecast(city: "")).failure?.kind, .transport(.truncated))
  }

  @Test("a cancel stops the exchange and is no failure")
  func cancel() throws {
    let test = ClientUnderTest([.ok(rome).after(.seconds(1))])
    let recorder = test.send(Forecast(city: "Rome"))
    test.scheduler.advance(by: 0.5)
    recorder.cancel()
    try test.scheduler.run()
    #expect(recorder.values.isEmpty && recorder.completion == nil)
    expectEqual(test.transport.calls.map(\.isCancelled), [true])
    expectEqual(test.log.lines.last?.hasSuffix("cancelled"), true)
  }

  @Test("an asynchronous caller gets the value, the failure, or the cancel")
  func asynchronous() async throws {
    let client = WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport([.ok(rome), .status(404)]),
      deliveringOn: nil
    )
    let place = try await client.value(of: Forecast(city: "Rome"))
    expectEqual(place, Place(name: "Rome", temperature: 12))
    do throws(NetworkFailure) {
      _ = try await client.value(of: Forecast(city: "Rome"))
      Issue.record("a 404 gave a value")
    } catch {
      expectEqual(error.kind, .notFound)
    }
    let test = ClientUnderTest([.silence])
    let task = Task { [client = test.client] in
      try await client.value(of: Forecast(city: "Rome"))
    }
    task.cancel()
    let result = await task.result
    #expect(throws: NetworkFailure.self) { try result.get() }
    if case .failure(let error as NetworkFailure) = result { expectEqual(error.kind, .cancelled) }
    #expect(test.transport.calls.allSatisfy { $0.isCancelled })
  }

  @Test("an asynchronous call waits for no queue, and goes on where it was")
  @MainActor func asynchronousWithoutQueue() async throws {
    // Nobody runs what is scheduled there.
    let stopped = TestScheduler()
    let client = WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport([.ok(rome), .ok(rome)]),
      deliveringOn: stopped
    )
    let place = try await client.value(of: Forecast(city: "Rome"))
    MainActor.assertIsolated()
    expectEqual(place, Place(name: "Rome", temperature: 12))
    let executor: any RequestExecutor = client
    try await expectEqual(executor.value(of: Forecast(city: "Rome")), place)
    expectEqual(stopped.pendingCount, 0)
  }

  @Test("responses arrive on the main queue unless told otherwise")
  func mainQueue() async throws {
    let client = WebAPIClient(baseURL: .service, transport: ScriptedTransport([.ok(rome)]))
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    let isMain = await withCheckedContinuation { continuation in
      let recorder = Recorder<Place, NetworkFailure>(
        whenCompleted: { continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true) }
      )
      client.publisher(for: Forecast(city: "Rome")).subscribe(recorder)
    }
    #expect(isMain)
  }

  @Test("a client can be swapped for a stub")
  func stub() throws {
    struct Stub: RequestExecutor {
      func publisher<R: Request>(for request: R) -> AnyPublisher<R.Response, NetworkFailure> {
        Fail(error: NetworkFailure(.transport(.offline))).eraseToAnyPublisher()
      }
    }
    let recorder = Recorder<Place, NetworkFailure>()
    Forecast(city: "Rome").publisher(via: Stub()).subscribe(recorder)
    expectEqual(recorder.failure?.kind, .transport(.offline))
  }

  @Test("progress of both directions is told")
  func progress() throws {
    let chunks = ["ab", "cd", "e"].map { Data($0.utf8) }
    let test = ClientUnderTest([.chunks(200, [:], chunks, every: .seconds(1))])
    let log = ValueLog<TransferProgress>()
    let request = Anything(method: .post, body: .data(Data(count: 9), contentType: "a/b"))
    test.client.responses(for: request, progress: log.append).subscribe(Recorder())
    try test.scheduler.run()
    expectEqual(log.values, [.sent(9, of: 9), .received(2, of: 5), .received(4, of: 5), .received(5, of: 5)])
  }

  @Test("the length that a server tells of a packed answer is none of what comes")
  func progressOfPackedAnswer() throws {
    let chunks = ["abc", "def"].map { Data($0.utf8) }
    let headers: HTTPHeaders = ["Content-Encoding": "gzip", "Content-Length": "4"]
    let test = ClientUnderTest([.chunks(200, headers, chunks, every: .seconds(1))])
    let log = ValueLog<TransferProgress>()
    test.client.responses(for: Anything(), progress: log.append).subscribe(Recorder())
    try test.scheduler.run()
    expectEqual(log.values, [.received(3, of: nil), .received(6, of: nil)])
  }

  @Test("progress of a file that grows while it is sent is told by the length that was announced")
  func progressOfGrowingFile() throws {
    let temporary = TemporaryFolder()
    try FileManager.default.createDirectory(at: temporary.url, withIntermediateDirectories: true)
    let file = temporary.url.appending(path: "log")
    try Data(count: 4).write(to: file)
    let transport = StubbornTransport()
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
    let log = ValueLog<TransferProgress>()
    let request = Anything(method: .post, body: .file(file, contentType: "text/plain"))
    let recorder = Recorder<ParsedResponse<Data>, NetworkFailure>()
    client.responses(for: request, progress: log.append).subscribe(recorder)
    transport.tell(.sent(2), of: 0)
    try Data(count: 9).write(to: file)
    transport.tell(.sent(4), of: 0)
    expectEqual(log.values, [.sent(2, of: 4), .sent(4, of: 4)])
    recorder.cancel()
  }

  @Test("a call tells its whole life, in order, without secrets")
  func events() throws {
    let test = ClientUnderTest(
      [.status(503), .redirect(to: "/b?token=s3cret"), .ok(rome)],
      [Retrying(.init(clamping: 1, backoff: .immediate))]
    )
    let recorder = try test.run(Anything(headers: ["Authorization": "s3cret"], query: ["token": "s3cret"]))
    #expect(recorder.isFinished)
    let text = test.log.lines.joined(separator: "\n")
    #expect(!text.contains("s3cret"))
    let stages = test.log.events.map { "\($0.kind)".prefix { $0 != "(" } }
    expectEqual(
      stages,
      [
        "began", "attemptBegan", "responded", "attemptFailed", "retry", "attemptBegan", "redirected", "responded",
        "downloaded", "attemptSucceeded", "succeeded",
      ]
    )
    expectEqual(Set(test.log.events.map(\.requestID)).count, 1)
  }

  @Test("middleware stands in the order of its places, and those of one place as they were given")
  func order() throws {
    let test = ClientUnderTest(
      [.redirect(to: "/b"), .status(200)],
      [
        Mark(text: "s", place: .signing), Mark(text: "a1", place: .adaptation), Mark(text: "r", place: .retry),
        Mark(text: "a2", place: .adaptation), Mark(text: "k", place: .cookies), Mark(text: "h", place: .deadlineHeader),
        Mark(text: "c", place: .cache), Mark(text: "t", place: .authentication), Mark(text: "b", place: .protection),
        Mark(text: "m", place: .redirects), Mark(text: "j", place: .coalescing), Mark(text: "f", place: .fallback),
        Mark(text: "d", place: .deadline),
      ]
    )
    _ = try test.run(Anything())
    let once = ["f", "c", "j", "d", "r", "t", "b", "m"]
    let hop = ["h", "k", "a1", "a2", "s"]
    let marks = test.transport.calls.map { $0.request.headers.values(of: "X-Mark") }
    // What is inside of the redirects sees each request that they make.
    expectEqual(marks, [once + hop, once + hop])
  }

  @Test("a description has all that a request passes in its order, also what the client does itself")
  func description() {
    var test = ClientUnderTest(
      [],
      [
        Cookies(), APIKey(.query("key"), "k3y"), Retrying(.http), Mark(text: "m", place: .redirects),
        Mark(text: "h", place: .deadlineHeader), Caching(in: HTTPCache()),
      ]
    )
    test.client.deadlineHeader = "Grpc-Timeout"
    expectEqual(
      "\(test.client)",
      """
      Caching → DeadlineLimit → Retrying(2) → m → Redirects(10) → DeadlineHeader(Grpc-Timeout) → h → Cookies \
      → APIKey → ScriptedTransport
      """
    )
    test.client.redirects = .none
    test.client.deadlineHeader = nil
    #expect(!"\(test.client)".contains("Redirects"))
    #expect(!"\(test.client)".contains("DeadlineHeader"))
  }

  @Test("a deadline ends the call, cancels what runs, and tells what failed before")
  func deadline() throws {
    let test = ClientUnderTest(
      [.status(503), .silence],
      [Retrying(.init(clamping: 3, backoff: .constant(.seconds(1))))]
    )
    let recorder = try test.run(Anything(deadline: .seconds(5)))
    expectEqual(recorder.failure?.kind, .deadlineExceeded)
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 5_000_000_000))
    expectEqual(recorder.failure?.earlier.first?.kind, .serverError(503))
    expectEqual(test.transport.calls.count, 2)
  }

  @Test("a pause that would end behind the deadline is not waited for: the server's failure comes at once")
  func hintBehindDeadline() throws {
    let test = ClientUnderTest([.status(503, retryAfter: 5)], [Retrying(.init(clamping: 3, backoff: .immediate))])
    let recorder = try test.run(Anything(deadline: .seconds(5)))
    expectEqual(recorder.failure?.kind, .serverError(503))
    expectEqual(recorder.completionTime, .start)
  }

  @Test("each attempt is given no more time than is left of the whole, and the server is told")
  func deadlineReachesTransport() throws {
    var test = ClientUnderTest(
      [.status(503).after(.seconds(2)), .status(200)],
      [Retrying(.init(clamping: 1, backoff: .constant(.seconds(1))))]
    )
    test.client.deadlineHeader = "Grpc-Timeout"
    _ = try test.run(Anything(deadline: .seconds(10), limits: TransportLimits(total: .seconds(8))))
    expectEqual(test.transport.calls.map(\.request.limits.total), [.seconds(8), .seconds(7)])
    expectEqual(test.transport.calls.map { $0.request.headers["Grpc-Timeout"] }, ["10000m", "7000m"])
  }

  @Test("an answer may have 64 MiB unless client or request say otherwise")
  func defaultSize() throws {
    var test = ClientUnderTest(Array(repeating: .status(200), count: 4))
    _ = try test.run(Anything())
    _ = try test.run(Anything(limits: TransportLimits(total: .seconds(5))))
    _ = try test.run(Anything(limits: TransportLimits(responseBytes: nil)))
    test.client.limits.responseBytes = 1_000
    _ = try test.run(Anything())
    let standard: Int64? = 64 << 20
    expectEqual(test.transport.calls.map(\.request.limits.responseBytes), [standard, standard, nil, 1_000])
  }

  @Test("the client's limits and header fields hold, and a request's own win")
  func defaults() throws {
    var test = ClientUnderTest([.status(200), .status(200)])
    test.client.limits = TransportLimits(idle: .seconds(3), responseBytes: 9)
    test.client.headers = ["User-Agent": "Example/1", "Accept-Language": "it"]
    _ = try test.run(Anything())
    _ = try test.run(Anything(headers: ["accept-language": "de"], limits: TransportLimits(idle: .seconds(1))))
    let requests = test.transport.calls.map(\.request)
    expectEqual(requests[0].limits, TransportLimits(idle: .seconds(3), responseBytes: 9))
    expectEqual(requests[1].limits, TransportLimits(idle: .seconds(1)))
    expectEqual(requests[1].headers.values(of: "Accept-Language"), ["de"])
    expectEqual(requests[1].headers["User-Agent"], "Example/1")
  }

  @Test("of the client's header fields, only those that a redirect would take along go to another service")
  func otherService() throws {
    var test = ClientUnderTest([.status(200)], repeatingLast: true)
    test.client.headers = ["Authorization": "a", "X-Team": "b", "X-Lab": "c", "User-Agent": "Example/1"]
    test.client.redirects = .follow().carrying(header: "X-Lab")
    let other = Anything(baseURL: URL(string: "https://other.example"), headers: ["X-Own": "d", "Cookie": "e"])
    _ = try test.run(other)
    _ = try test.run(Anything(baseURL: URL(string: "https://api.example:443/v2")))
    test.client.trustedOrigins = [try #require(other.baseURL)]
    _ = try test.run(other)
    let sent = test.transport.calls.map(\.request.headers)
    expectEqual(sent[0].map(\.name).sorted(), ["Cookie", "User-Agent", "X-Lab", "X-Own"])
    for headers in sent[1...] {
      #expect(["Authorization", "X-Team", "X-Lab", "User-Agent", "X-Request-ID"].allSatisfy(headers.contains(name:)))
    }
  }

  @Test("another service that leads back to the client's has no part in what is meant for that")
  func ledBack() throws {
    let key = APIKey(.header("X-API-Key"), "k")
    let test = ClientUnderTest([.redirect(to: URL.service.absoluteString), .status(200)], [key])
    _ = try test.run(Anything(baseURL: URL(string: "https://other.example")))
    expectEqual(test.transport.calls.map { $0.request.headers.contains(name: "X-API-Key") }, [false, false])
  }

  @Test("nothing keeps a call alive after its end or its cancel")
  func memory() throws {
    final class Token: Sendable {}
    struct Holding: Request {
      let token: Token
      var path: RequestPath { "" }
      typealias Response = NoContent
    }
    weak var ended: Token?
    weak var cancelled: Token?
    let test = ClientUnderTest([.status(200), .silence], [Retrying(.http), Coalescing(), Caching(in: HTTPCache())])
    try {
      let (first, second) = (Token(), Token())
      (ended, cancelled) = (first, second)
      _ = try test.run(Holding(token: first))
      test.send(Holding(token: second)).cancel()
    }()
    #expect(ended == nil)
    #expect(cancelled == nil)
  }
}

/// Counts what is drawn of a seeded source.
///
/// Unchecked, because one thread draws.
final class Draws: @unchecked Sendable {
  private let source = RandomSource.seeded(1)
  private(set) var count = 0

  func next() -> Double {
    count += 1
    return source.next()
  }
}

/// Adds a field that would be two on the wire.
private struct Breaking: HTTPMiddleware {
  let place: MiddlewarePlace

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    var request = request
    request.message.headers.add("X-A", "1\r\nX-B: 2")
    return next(request)
  }
}

/// Leaves its mark on a request.
private struct Mark: HTTPMiddleware {
  let text: String
  var place: MiddlewarePlace
  var name: String { text }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    var request = request
    request.message.headers.add("X-Mark", text)
    return next(request)
  }
}
