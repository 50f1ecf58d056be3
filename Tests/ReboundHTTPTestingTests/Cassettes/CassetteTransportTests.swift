import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@Suite("CassetteTransport")
struct CassetteTransportTests {
  private let folder = CassetteFolder()
  private let scheduler = TestScheduler()
  private var file: URL { folder.file }
  private var time: TimeSource {
    scheduler.time.withWallClock { .seconds(1_800_000_000) }
  }

  /// Sends requests one after the other, lets time run until nothing waits, and returns what was told.
  private func send(_ requests: [TransportRequest], through transport: some Transport) throws -> [[String]] {
    try requests.map { request in
      let log = EventLines(on: scheduler)
      _ = transport.start(request, telling: log.write)
      try scheduler.run()
      return log.lines
    }
  }

  private func record(_ script: [ScriptedTransport.Step], _ requests: [TransportRequest]) throws -> [[String]] {
    let network = ScriptedTransport(script, time: scheduler.time)
    let cassette = try CassetteTransport(file, .record(network), time: time)
    let lines = try send(requests, through: cassette)
    try cassette.save()
    return lines
  }

  private func replay(keepingPace: Bool = false) throws -> CassetteTransport {
    try CassetteTransport(file, time: time, keepingPace: keepingPace)
  }

  // MARK: Record and replay

  @Test("a replay tells what was recorded: values, failures and order")
  func roundTrip() throws {
    let answer = ResponseHead(
      status: 206,
      headers: ["Content-Length": "9", "ETag": "a", "Via": "x"],
      url: .service
    )
    let broken = TransportFailure(.truncated, bytesSent: 3, bytesReceived: 4, detail: "5 bytes are missing")
    let script: [ScriptedTransport.Step] = [
      .chunks(200, ["X-Part": "1", "x-part": "2"], [Data("Sal".utf8), Data("ve,".utf8), Data(" Roma!".utf8)]),
      .response(200, [:], Data([0, 255, 254, 10])),
      .status(503, retryAfter: 7),
      .failure(broken, after: answer, [Data("half".utf8)]),
      .refused,
      .timeout,
      .failure(.tls(.expired)),
      .response(204),
    ]
    let requests: [TransportRequest] = [
      .sample(), .sample(.put, body: "abc"), .sample("/b"), .sample("/c?x=1"), .sample("/d"), .sample("/e"),
      .sample("/f"),
      .sample("/g"),
    ]
    let recorded = try record(script, requests)
    expectEqual(
      recorded[3].last?.hasSuffix("failed: the answer's end is missing, after 4 bytes (5 bytes are missing)"),
      true
    )
    let cassette = try replay()
    scheduler.advance(by: 1)
    let start = scheduler.elapsed
    for (lines, expected) in zip(try send(requests, through: cassette), recorded) {
      expectEqual(EventLines.withoutTimes(lines), EventLines.withoutTimes(expected))
    }
    expectEqual(scheduler.elapsed, start)
    try cassette.checkAllUsed()
  }

  @Test("failures keep their kind, and whether the server can have seen the request", arguments: EveryKind.all)
  func kinds(kind: TransportFailure.Kind) throws {
    _ = try record([.failure(TransportFailure(kind, bytesSent: 12, redirects: 1))], [.sample()])
    let log = EventLines(on: scheduler)
    _ = try replay().start(.sample(), telling: log.write)
    let failure = try #require(log.failure)
    expectEqual(failure.kind, kind)
    expectEqual(failure.bytesSent, 12)
    expectEqual(failure.redirects, 1)
  }

  @Test("a replay takes as long as the recording if asked to, part by part")
  func pace() throws {
    let chunks = [Data("a".utf8), Data("b".utf8)]
    let script: [ScriptedTransport.Step] = [
      .chunks(200, [:], chunks, every: .milliseconds(1_500)).after(.seconds(2)),
      .reset.after(.nanoseconds(1_000_000_001)),
    ]
    let recorded = try record(script, [.sample(), .sample("/b")])
    expectEqual(recorded[0].last, "3.5 seconds: finished")
    try expectEqual(send([.sample(), .sample("/b")], through: try replay(keepingPace: true)), recorded)
  }

  @Test("a client over a replay gets the same responses and failures, its retries included")
  func client() throws {
    struct Forecast: Request {
      typealias Response = [String: Int]
      var path: RequestPath { "weather" }
    }
    func run(_ transport: any Transport) throws -> Recorder<[String: Int], NetworkFailure> {
      let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))
      let client = WebAPIClient(
        baseURL: .service,
        transport: transport,
        middleware: [retrying],
        deliveringOn: nil,
        time: time
      )
      let recorder = Recorder<[String: Int], NetworkFailure>(on: scheduler)
      client.publisher(for: Forecast()).subscribe(recorder)
      try scheduler.run()
      return recorder
    }
    let network = ScriptedTransport([.offline, .status(503), .ok(#"{"Rome":12}"#)], time: scheduler.time)
    let recording = try CassetteTransport(file, .record(network), time: time)
    try expectEqual(run(recording).values, [["Rome": 12]])
    try recording.save()
    let cassette = try replay()
    try expectEqual(run(cassette).values, [["Rome": 12]])
    #expect(cassette.unused.isEmpty)
    let failure = try #require(try run(cassette).failure)
    #expect(failure.transport?.underlying is CassetteMiss)
    #expect("\(failure)".contains("has answered already") || "\(failure)".contains("have answered already"))
  }

  @Test("what is missing is recorded, behind what the file held")
  func recordMissing() throws {
    _ = try record([.ok("1")], [.sample("/a")])
    let network = ScriptedTransport([.ok("2")])
    let cassette = try CassetteTransport(file, .recordMissing(network), time: time)
    let lines = try send([.sample("/a"), .sample("/b")], through: cassette).map(EventLines.withoutTimes)
    expectEqual(lines.map { $0.dropFirst().first }, ["chunk 1", "chunk 2"])
    expectEqual(network.calls.map(\.request.url.path), ["/b"])
    try cassette.save()
    let both = try replay()
    #expect(both.unused.map(\.description) == ["GET https://api.example/a", "GET https://api.example/b"])
    #expect(try send([.sample("/b")], through: both)[0].contains { $0.hasSuffix("chunk 2") })
  }

  @Test("a recording replaces what the file held, and a replay never writes")
  func overwrite() throws {
    _ = try record([.ok("1")], [.sample("/a")])
    _ = try record([.ok("2")], [.sample("/b")])
    let before = try Data(contentsOf: file)
    let cassette = try replay()
    #expect(cassette.unused.map(\.url) == ["https://api.example/b"])
    try cassette.save()
    try expectEqual(Data(contentsOf: file), before)
    try expectEqual(FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).count, 1)
  }

  // MARK: Which recording answers

  @Test("recordings of the same request answer in order, each once, or the last one again")
  func order() throws {
    _ = try record([.ok("1"), .ok("2")], [.sample(), .sample()])
    let requests = Array(repeating: TransportRequest.sample(), count: 3)
    let once = try send(requests, through: try replay()).map { EventLines.withoutTimes($0)[1...].first ?? "" }
    expectEqual(once.prefix(2), ["chunk 1", "chunk 2"])
    #expect(once[2].isEmpty)
    let again = try CassetteTransport(file, repeatingLast: true, time: time)
    try expectEqual(
      send(requests, through: again).map { EventLines.withoutTimes($0)[1] },
      ["chunk 1", "chunk 2", "chunk 2"]
    )
  }

  @Test("a request that nothing answers names itself, the nearest recording, and what differs")
  func miss() throws {
    _ = try record(
      [.ok("1"), .ok("2")],
      [.sample("/weather?q=Rome&lang=it"), .sample(.post, "/log", body: #"{"level":"low","n":[1,2]}"#)]
    )
    let cassette = try replay()
    let log = EventLines(on: scheduler)
    _ = cassette.start(.sample("/weather?q=Paris&token=s3cret"), telling: log.write)
    let miss = try #require(log.failure?.underlying as? CassetteMiss)
    expectEqual(log.failure?.kind, .other)
    expectEqual(miss.nearestNumber, 1)
    expectEqual(
      miss.differences,
      [
        "'lang' of the query is missing", "'q' of the query is 'Paris', not 'Rome'",
        "'token' of the query is '…', and was not there",
      ]
    )
    #expect("\(miss)".contains("answers GET https://api.example/weather?q=Paris&token=…"))
    _ = cassette.start(.sample(.post, "/log", body: #"{"n":[1,3],"level":"low"}"#), telling: log.write)
    let other = try #require(log.failure?.underlying as? CassetteMiss)
    expectEqual(other.differences, ["'n[1]' of the body is 3, not 2"])
    expectEqual(cassette.unused.count, 2)
    let unused = try #require(throws: UnusedRecordings.self) { try cassette.checkAllUsed() }
    #expect("\(unused)".contains("\n  POST https://api.example/log"))
  }

  @Test("the order of members and of the query's names, and a boundary, make no difference")
  func equivalence() throws {
    func form(_ boundary: String) -> TransportRequest {
      let part = "Content-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
      return .sample(
        .post,
        "/form",
        ["Content-Type": "multipart/form-data; boundary=\(boundary)"],
        body: "--\(boundary)\r\n\(part)--\(boundary)--\r\n"
      )
    }
    let recorded: [TransportRequest] = [
      .sample("/a?x=1&y=2&x=3"), .sample(.post, body: #"{"a":1,"b":[2]}"#), form("one"),
    ]
    _ = try record([.ok("1"), .ok("2"), .ok("3")], recorded)
    let sent: [TransportRequest] = [
      .sample("/a?y=2&x=1&x=3"), .sample(.post, body: #"{"b": [2], "a": 1}"#), form("two"),
    ]
    let lines = try send(sent, through: try replay())
    expectEqual(
      lines.map { EventLines.withoutTimes($0).filter { $0.hasPrefix("chunk") } },
      [
        ["chunk 1"], ["chunk 2"], ["chunk 3"],
      ]
    )
    let large = try #require(
      EventLines.run(try replay(), .sample(.post, body: #"{"a":9007199254740993,"b":[2]}"#), scheduler).failure
    )
    #expect(large.underlying is CassetteMiss)
  }

  @Test("other rules let other requests be answered")
  func rules() throws {
    _ = try record([.ok("1")], [.sample("/a?time=1&q=x", ["Accept": "text/plain"])])
    let host = try #require(URL(string: "http://localhost:8080/a?q=x&time=2"))
    let request = TransportRequest(host, headers: ["accept": "text/plain"])
    let rules: [CassetteRule] = [.method, .path, .query(ignoring: ["time"]), .header("Accept")]
    let fitting = try CassetteTransport(file, matching: rules, time: time)
    #expect(EventLines.run(fitting, request, scheduler).failure == nil)
    var plain = request
    plain.headers = [:]
    let missing = try CassetteTransport(file, matching: rules, time: time)
    let miss = EventLines.run(missing, plain, scheduler).failure?.underlying as? CassetteMiss
    expectEqual(miss?.differences, ["the field Accept is missing"])
    let longer = CassetteRule { $0.url.count > $1.url.count ? [] : ["it is too short"] }
    let custom = try CassetteTransport(file, matching: [longer], time: time)
    #expect(EventLines.run(custom, request, scheduler).failure == nil)
  }

  @Test("an item of the query is ignored under its name, however an address spells that")
  func ignoredNames() throws {
    let rules: [CassetteRule] = [.query(ignoring: ["sent at", "a%5Bb%5D"])]
    _ = try record([.ok("1")], [.sample("/a?sent%20at=1&a%5Bb%5D=1&q=x")])
    for address in ["/a?sent%20at=2&q=x", "/a?sent+at=2&a%5Bb%5D=2&q=x", "/a?q=x&%73ent%20at=2"] {
      let fitting = try CassetteTransport(file, matching: rules, time: time)
      #expect(EventLines.run(fitting, .sample(address), scheduler).failure == nil, "\(address)")
    }
    let other = try CassetteTransport(file, matching: rules, time: time)
    let miss = EventLines.run(other, .sample("/a?q=x&sent=2"), scheduler).failure?.underlying as? CassetteMiss
    expectEqual(miss?.differences, ["'sent' of the query is '2', and was not there"])
  }

  @Test("threads that ask at the same time get each recording once")
  func threads() throws {
    let script = (0..<40).map { ScriptedTransport.Step.ok("\($0)") }
    _ = try record(script, Array(repeating: .sample(), count: 40))
    let cassette = try replay()
    let log = EventLines(on: scheduler)
    DispatchQueue.concurrentPerform(iterations: 40) { _ in _ = cassette.start(.sample(), telling: log.write) }
    let bodies = EventLines.withoutTimes(log.lines).filter { $0.hasPrefix("chunk") }
    expectEqual(Set(bodies), Set((0..<40).map { "chunk \($0)" }))
    expectEqual(bodies.count, 40)
  }
}
