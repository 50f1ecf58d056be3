import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("HARLog")
struct HARLogTests {
  @Test("all attempts of a call are entries, in order, without secrets")
  func export() throws {
    var test = ClientUnderTest(
      [.status(503).after(.milliseconds(250)), .offline, .ok(#"{"token":"s3cret"}"#, ["Set-Cookie": "s3cret"])],
      [Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))]
    )
    let log = HARLog(
      time: test.scheduler.time.withWallClock { .seconds(ClientUnderTest.serverStart.secondsSinceEpoch) }
    )
    test.client = test.client.onEvent(log.write)
    _ = try test.run(
      Anything(
        method: .post,
        headers: ["Authorization": "s3cret"],
        query: ["appid": "s3cret", "q": "a b"],
        body: .json(["password": "s3cret"]),
        idempotency: .idempotent
      )
    )
    let data = try log.export()
    #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
    let archive = try JSONDecoder().decode(JSONValue.self, from: data)
    expectEqual(archive["log"]?["version"], .string("1.2"))
    let entries = try #require(archive["log"]?["entries"]?.elements)
    expectEqual(entries.map { $0["response"]?["status"] }, [.number(503), .number(0), .number(200)])
    expectEqual(entries.map { $0["time"] }, [.number(250), .number(0), .number(0)])
    expectEqual(entries[0]["startedDateTime"], .string("2027-01-15T08:00:00Z"))
    expectEqual(entries[0]["request"]?["queryString"]?.elements?.last?["value"], .string("a b"))
    expectEqual(entries[1]["comment"]?.string?.contains("no network"), true)
  }

  @Test("what a system or a server says in a failure has no secrets of the request, wherever it stands")
  func wordsOfOthers() throws {
    let failure = TransportFailure(.connect, detail: "no way to https://api.example/?api=s3cret")
    var test = ClientUnderTest([.failure(failure), .response(401, ["X-Request-ID": "7"])])
    let log = HARLog()
    test.client = test.client.onEvent(log.write)
    let echo = ErrorParser { _ in ServerMessage(text: "no such key: s3cret") }
    for _ in 1...2 { _ = try test.run(Anything(headers: ["X-API-Key": "s3cret"], errorParser: echo)) }
    let data = try log.export()
    #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
    let entries = try #require(try JSONDecoder().decode(JSONValue.self, from: data)["log"]?["entries"]?.elements)
    let comments = entries.compactMap { $0["comment"]?.string }
    expectEqual(comments.count, 2)
    #expect(comments.first?.contains("(no way to https://api.example/?api=…)") == true)
    expectEqual(comments.last?.contains("'no such key: …'"), true)
  }

  @Test("the parts that a transport has measured are the timings of an entry; without them, all is waiting")
  func timings() throws {
    let whole = TransportTimings(
      nameLookup: .milliseconds(10),
      connect: .milliseconds(30),
      tls: .milliseconds(70),
      firstByte: .milliseconds(200)
    )
    let script: [(TransportTimings, [String: Double])] = [
      (whole, ["dns": 10, "connect": 60, "ssl": 40, "send": 0, "wait": 130, "receive": 50]),
      (TransportTimings(firstByte: .milliseconds(200)), ["send": 0, "wait": 200, "receive": 50]),
      (TransportTimings(), ["send": 0, "wait": 250, "receive": 0]),
      // Measured in another time than the entry.
      (
        TransportTimings(connect: .seconds(2), firstByte: .seconds(1)),
        ["connect": 2_000, "send": 0, "wait": 0, "receive": 0]
      ),
    ]
    var test = ClientUnderTest(script.map { .status(204).after(.milliseconds(250)).timed($0.0) })
    let log = HARLog()
    test.client = test.client.onEvent(log.write)
    for _ in script { _ = try test.run(Anything()) }
    let entries = try #require(JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements)
    let expected = script.map { _, parts -> JSONValue? in .object(parts.mapValues { JSONValue.number($0) }) }
    expectEqual(entries.map { $0["timings"] }, expected)
  }

  @Test("a failure with an answer has the timings of that")
  func timingsOfFailure() throws {
    var test = ClientUnderTest([.status(503).timed(TransportTimings(nameLookup: .milliseconds(3), firstByte: .zero))])
    let log = HARLog()
    test.client = test.client.onEvent(log.write)
    _ = try test.run(Anything())
    let entries = try #require(JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements)
    expectEqual(entries.map { $0["timings"]?["dns"] }, [.number(3)])
  }

  @Test("no more attempts are kept than asked for, the last ones")
  func limit() throws {
    var test = ClientUnderTest([.status(204)], repeatingLast: true)
    let log = HARLog(limit: 2)
    test.client = test.client.onEvent(log.write)
    for path in ["a", "b", "c"] as [RequestPath] { _ = try test.run(Anything(path: path)) }
    let entries = try JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements
    expectEqual(entries?.map { $0["request"]?["url"]?.string?.suffix(1) }, ["b", "c"])
  }

  enum End: String, CaseIterable, Sendable {
    case cancel
    case deadline
    /// The deadline as well, and something else answers.
    case fallback
  }

  @Test(
    "an attempt that is cut off is an entry that never answers; what it was sending is not kept",
    arguments: End.allCases
  )
  func cutOff(end: End) throws {
    let scheduler = TestScheduler()
    let log = HARLog()
    let client = WebAPIClient(
      baseURL: .service,
      transport: Silence(),
      middleware: end == .fallback ? [Saved()] : [],
      deliveringOn: nil,
      time: scheduler.time
    )
    .onEvent(log.write)
    let recorder = Recorder<Data, NetworkFailure>()
    weak var kept: Token?
    do {
      let token = Token()
      kept = token
      client.publisher(
        for: Anything(
          method: .put,
          body: .stream(token.body, contentType: "a/b"),
          deadline: end == .cancel ? nil : .seconds(2)
        )
      )
      .subscribe(recorder)
    }
    #expect(kept != nil)
    scheduler.advance(by: 2)
    if end == .cancel { recorder.cancel() }
    expectEqual(recorder.values.count, end == .fallback ? 1 : 0)
    #expect(kept == nil)
    let entries = try #require(JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements)
    expectEqual(entries.map { $0["response"]?["status"] }, [.number(0)])
    expectEqual(entries.map { $0["time"] }, [.number(2_000)])
    expectEqual(entries.map { $0["_events"] }, [.array([])])
    let comment = try #require(entries.first?["comment"]?.string)
    #expect(comment.hasPrefix("Anything, attempt 1, request ") && comment.hasSuffix(": cut off"))
  }

  @Test("an attempt whose end is never told is kept no longer than until too many others have begun")
  func endless() throws {
    let log = HARLog(limit: 1)
    let client = WebAPIClient(baseURL: .service, transport: Silence(), deliveringOn: nil)
      .onEvent { event in
        if case .cancelled = event.kind { return }
        log.write(event)
      }
    weak var kept: Token?
    do {
      let token = Token()
      kept = token
      client.publisher(for: Anything(method: .put, body: .stream(token.body, contentType: "a/b"))).sink { _ in
      } receiveValue: { _ in
      }
      .cancel()
    }
    #expect(kept != nil)
    let running = client.publisher(for: Anything()).sink { _ in
    } receiveValue: { _ in
    }
    #expect(kept == nil)
    running.cancel()
  }

  @Test("attempts that are under way side by side are an entry each; the one that has lost is cut off")
  func hedged() throws {
    var test = ClientUnderTest(
      [.ok("first").after(.seconds(5)), .status(503).after(.seconds(1)), .ok("third").after(.seconds(1))],
      [Hedging(try HedgePolicy(maxHedges: 2, delay: .after(.seconds(2))))]
    )
    let log = HARLog()
    test.client = test.client.onEvent(log.write)
    try expectEqual(test.run(Anything()).values, [Data("third".utf8)])
    let entries = try #require(JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements)
    expectEqual(entries.map { $0["response"]?["status"] }, [.number(503), .number(200), .number(0)])
    expectEqual(entries.map { $0["time"] }, [.number(1_000), .number(1_000), .number(4_000)])
    let comments = entries.compactMap { $0["comment"]?.string }
    #expect(comments.count == 3 && comments[1].contains("attempt 3,") && comments[2].contains("attempt 1,"))
    expectEqual(comments.map { $0.hasSuffix("cut off") }, [false, false, true])
  }

  @Test("an attempt that goes on for who has joined it is an entry with its answer, whoever has lost interest")
  func joined() throws {
    var test = ClientUnderTest(
      [.status(503).after(.seconds(2)), .ok("first").after(.seconds(1)), .ok("second")],
      [Coalescing(), Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))]
    )
    let log = HARLog()
    test.client = test.client.onEvent(log.write)
    let first = test.send(Anything())
    let second = test.send(Anything())
    test.scheduler.advance(by: .seconds(1))
    first.cancel()
    try test.scheduler.run()
    expectEqual(second.values, [Data("first".utf8)])
    _ = try test.run(Anything())
    let entries = try #require(JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements)
    expectEqual(entries.map { $0["response"]?["status"] }, [.number(503), .number(200), .number(200)])
    expectEqual(entries.map { $0["time"] }, [.number(2_000), .number(1_000), .number(0)])
    #expect(entries.allSatisfy { $0["_events"] == nil && $0["comment"]?.string?.hasSuffix("cut off") == false })
  }
}

/// Is held by its body.
private final class Token: Sendable {
  var body: BodyStream {
    BodyStream { () throws -> any BodyReader in
      withExtendedLifetime(self) {}
      throw CancellationError()
    }
  }
}

/// A transport that never answers, and keeps nothing.
private final class Silence: Transport, TransportExchange {
  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange { self }
  func cancel() {}
  func pause() {}
  func resume() {}
}

/// Answers in place of a failure.
private struct Saved: HTTPMiddleware {
  var place: MiddlewarePlace { .fallback }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    let head = ResponseHead(status: 200, url: request.message.url)
    let saved = HTTPResponse(head: head, receivedAt: HTTPDate(secondsSinceEpoch: 0))
    return next(request).catch { _ in Just(saved).setFailureType(to: NetworkFailure.self) }.eraseToAnyPublisher()
  }
}
