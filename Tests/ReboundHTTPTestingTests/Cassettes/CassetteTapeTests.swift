import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("files of CassetteTransport")
struct CassetteTapeTests {
  private let folder = CassetteFolder()
  private let scheduler = TestScheduler()
  private var time: TimeSource { scheduler.time }

  private func replay(keepingPace: Bool = false) throws -> CassetteTransport {
    try CassetteTransport(folder.file, time: time, keepingPace: keepingPace)
  }

  // MARK: Secrets

  @Test("no secret reaches the file: not of fields, queries, forms, JSON, multipart forms, redirects or failures")
  func secrets() throws {
    let secret = "s3cr3t"
    let part = "Content-Disposition: form-data; name=\"password\"\r\n\r\n\(secret)\r\n"
    let multipart = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nkept\r\n--b\r\n\(part)--b--\r\n"
    var binary = Data([0xFF, 0xFE]) + Data(multipart.utf8)
    binary.append(0xFF)
    let latin = Data(#"{"name":"M"#.utf8) + [0xFC] + Data(#"ller","password":"\#(secret)"}"#.utf8)
    let form = ["Content-Type": "multipart/form-data; boundary=\"b\""] as HTTPHeaders
    let requests: [TransportRequest] = [
      .sample(
        "/?token=\(secret)&q=1",
        ["Authorization": "Bearer \(secret)", "Referer": "https://a.example/?code=\(secret)"]
      ),
      .sample(.post, "/", ["Content-Type": "application/x-www-form-urlencoded"], body: "password=\(secret)&a=kept"),
      .sample(.post, "/", ["Content-Type": "application/json"], body: #"{"password":"\#(secret)","a":"kept"}"#),
      .sample(.post, "/multipart", form, body: multipart),
      .sample(.post, "/binary", form, body: .data(binary)),
      .sample(.post, "/latin", body: .data(latin)),
      TransportRequest(try #require(URL(string: "https://me:\(secret)@api.example/"))),
    ]
    let answers: [ScriptedTransport.Step] = [
      .response(302, ["Location": "/next?access_token=\(secret)#\(secret)", "Set-Cookie": "id=\(secret)"]),
      .ok(#"{"refresh_token":"\#(secret)","expires":5}"#),
      .failure(TransportFailure(.other, detail: "https://api.example/ with \(secret)")),
      .failure(TransportFailure(.other, underlying: Unreachable(text: "nobody"))),
      .response(200), .response(200), .response(200),
    ]
    var third = requests[2]
    third.headers["X-API-Key"] = secret
    let network = ScriptedTransport(answers)
    let recording = try CassetteTransport(folder.file, .record(network), time: time)
    let sent = requests.enumerated().map { $0.offset == 2 ? third : $0.element }
    for request in sent { _ = recording.start(request) { _ in } }
    try recording.save()

    let text = try String(contentsOf: folder.file, encoding: .utf8)
    #expect(!text.contains(secret))
    #expect(text.contains("kept"))
    let entries = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))["log"]?["entries"]?.elements ?? []
    let encoded = entries.compactMap { $0["request"]?["postData"] }.filter { $0["_encoding"] == .string("base64") }
    expectEqual(encoded.count, 2)
    for body in encoded.compactMap({ $0["text"]?.string }) {
      let data = try #require(Data(base64Encoded: body))
      #expect(data.range(of: Data(secret.utf8)) == nil)
      #expect(data.contains(0xFF) || data.contains(0xFC))
    }

    // Another secret finds the same recordings.
    let cassette = try replay()
    for request in sent {
      let log = EventLines.run(cassette, request, scheduler)
      #expect(!(log.failure?.underlying is CassetteMiss), "\(request.url)")
    }
    let detail = EventLines.run(try replay(), sent[3], scheduler).failure?.detail
    expectEqual(detail, "nobody")
    let redirect = EventLines.run(try replay(), .sample("/?token=other&q=1"), scheduler)
    expectEqual(redirect.lines.first?.contains("Location=/next?access_token=… Set-Cookie=…"), true)
  }

  private struct Unreachable: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  @Test("an answer is as long as its fields say, also without its secrets")
  func contentLength() throws {
    let recording = try CassetteTransport(
      folder.file,
      .record(ScriptedTransport([.ok(#"{"token":"abcdefghijklm"}"#)])),
      time: time
    )
    _ = recording.start(.sample()) { _ in }
    try recording.save()
    let heads = Heads()
    _ = try replay().start(.sample(), telling: heads.write)
    let body = #"{"token":"…"}"#
    expectEqual(heads.headers?["Content-Length"], "\(body.utf8.count)")
    expectEqual(heads.body, body)
  }

  @Test("other secrets are hidden if the redaction says so")
  func ownRedaction() throws {
    let redaction = Redaction.standard.hiding(header: "X-Session").hiding(parameter: "pin")
    let recording = try CassetteTransport(
      folder.file,
      .record(ScriptedTransport([.ok("1")])),
      redaction: redaction,
      time: time
    )
    _ = recording.start(.sample("/?pin=4711", ["X-Session": "4712"])) { _ in }
    try recording.save()
    #expect(try !String(contentsOf: folder.file, encoding: .utf8).contains("471"))
    let cassette = try CassetteTransport(folder.file, redaction: redaction, time: time)
    #expect(EventLines.run(cassette, .sample("/?pin=0815", ["X-Session": "1"]), scheduler).failure == nil)
  }

  // MARK: Files of others

  /// As browsers write it: other fields, fields left out, and phases in the place of events.
  private static let browser = #"""
    {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [{"id": "page_1"}],
      "entries": [
        {"_initiator": {"type": "script"}, "cache": {"afterRequest": null}, "connection": "443", "pageref": "page_1",
         "request": {"method": "GET", "url": "https://api.example/a?token=abc", "httpVersion": "http/2.0",
           "headers": [{"name": ":authority", "value": "api.example"}, {"name": "accept", "value": "*/*"}],
           "queryString": [], "cookies": [{"name": "id", "value": "1", "httpOnly": true}], "headersSize": -1, "bodySize": 0},
         "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0",
           "headers": [{"name": ":status", "value": "200"}, {"name": "set-cookie", "value": "a=1\nb=2"}],
           "cookies": [], "content": {"size": 5, "mimeType": "text/plain", "text": "aGVsbG8=", "encoding": "base64"},
           "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 61, "_error": null},
         "startedDateTime": "2026-01-01T10:00:00.123Z", "time": 250.5,
         "timings": {"blocked": 10, "dns": -1, "ssl": -1, "connect": -1, "send": 0.25, "wait": 100, "receive": 140.25}},
        {"request": {"method": "POST", "url": "https://api.example/b", "headers": [],
           "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "x", "value": "1"}]}},
         "response": {"status": 0, "statusText": "", "headers": [], "content": {"size": 0, "mimeType": "x-unknown"},
           "redirectURL": "", "_error": "net::ERR_CONNECTION_REFUSED"}, "time": 12},
        {"request": {"method": "GET", "url": "https://api.example/c"},
         "response": {"status": 301, "redirectURL": "https://api.example/d", "content": {"size": 0}}},
        {"request": {"method": "GET", "url": "https://api.example/d"},
         "response": {"status": 200, "content": {"size": 12, "mimeType": "text/plain"}}}
      ]}}
    """#

  @Test("what a browser exports is replayed: fields, bodies, failures, and the time it took")
  func browserExport() throws {
    try folder.write(Self.browser)
    let cassette = try replay(keepingPace: true)
    #expect(cassette.unused.map(\.url).first == "https://api.example/a?token=…")
    expectEqual(
      EventLines.run(cassette, .sample("/a?token=mine"), scheduler).lines,
      [
        "0.11025 seconds: head 200 set-cookie=a=1 set-cookie=b=2", "0.2505 seconds: chunk hello",
        "0.2505 seconds: finished",
      ]
    )
    let refused = EventLines.run(cassette, .sample(.post, "/b", body: "x=1"), scheduler)
    expectEqual(refused.lines, ["0.012 seconds: failed: the host takes no connection (net::ERR_CONNECTION_REFUSED)"])
    let redirect = EventLines.run(cassette, .sample("/c"), scheduler)
    #expect(EventLines.withoutTimes(redirect.lines) == ["head 301 Location=https://api.example/d", "finished"])
    let missing = EventLines.run(cassette, .sample("/d"), scheduler)
    expectEqual(missing.failure?.detail?.contains("does not have the body"), true)
  }

  @Test("what is recorded besides leaves a browser's file as it is")
  func browserFileKeeps() throws {
    try folder.write(Self.browser)
    let cassette = try CassetteTransport(folder.file, .recordMissing(ScriptedTransport([.ok("new")])), time: time)
    _ = cassette.start(.sample("/new")) { _ in }
    try cassette.save()
    let before = try JSONDecoder().decode(JSONValue.self, from: Data(Self.browser.utf8))
    let after = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: folder.file))
    expectEqual(after["log"]?["pages"], before["log"]?["pages"])
    let (old, new) = (before["log"]?["entries"]?.elements ?? [], after["log"]?["entries"]?.elements ?? [])
    expectEqual(Array(new.dropLast()), old)
    expectEqual(new.count, 5)
  }

  @Test("what HARLog exports is replayed, bodies that are no text and failures included")
  func harLog() throws {
    struct Photo: Request {
      typealias Response = Data
      var path: RequestPath { "photo" }
      var parser: ResponseParser<Data> { .data }
    }
    let bytes = Data([0xFF, 0xD8, 0, 1])
    let log = HARLog()
    let network = ScriptedTransport(
      [.response(200, ["Content-Type": "image/jpeg"], bytes), .refused],
      time: scheduler.time
    )
    func send(_ transport: any Transport) throws -> (Recorder<Data, NetworkFailure>) {
      let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil, time: time).onEvent(
        log.write
      )
      let recorder = Recorder<Data, NetworkFailure>(on: scheduler)
      client.publisher(for: Photo()).subscribe(recorder)
      try scheduler.run()
      return recorder
    }
    for _ in 0..<2 { _ = try send(network) }
    try folder.write(String(decoding: log.export(), as: UTF8.self))
    let cassette = try replay()
    try expectEqual(send(cassette).values, [bytes])
    try expectEqual(send(cassette).failure?.kind, .transport(.connect))
  }

  @Test("a recording may be edited by hand")
  func edited() throws {
    let recording = try CassetteTransport(
      folder.file,
      .record(ScriptedTransport([.ok("before"), .response(200)])),
      time: time
    )
    for path in ["/a", "/b"] { _ = recording.start(.sample(path)) { _ in } }
    try recording.save()
    let text = try String(contentsOf: folder.file, encoding: .utf8)
      .replacingOccurrences(of: #""before""#, with: #""and after""#)
      .replacingOccurrences(of: #""text" : """#, with: #""text" : "new""#)
    try folder.write(text)
    let cassette = try replay()
    let lines = ["/a", "/b"].map {
      EventLines.withoutTimes(EventLines.run(cassette, .sample($0), scheduler).lines).dropFirst()
    }
    expectEqual(lines, [["chunk and after", "finished"], ["chunk new", "finished"]])
  }

  @Test(
    "a file that cannot be used says which, why, and what to do",
    arguments: [
      (nil, "Record it first"), ("{", "is no HTTP Archive"), (#"{"log":{}}"#, "is no HTTP Archive"),
      (
        #"{"log":{"entries":[{"request":{"method":"GET","url":"x"},"response":{"status":200,"content":{"text":"?","encoding":"base64"}}}]}}"#,
        "recording 1 that cannot be replayed: its body is not the base64"
      ),
    ]
  )
  func unusable(text: String?, problem: String) throws {
    if let text { try folder.write(text) }
    let error = try #require(throws: CassetteFileError.self) { _ = try replay() }
    #expect("\(error)".contains(problem))
    #expect("\(error)".contains("weather.har"))
  }
}

/// Keeps head and body of one answer.
///
/// Unchecked, because events come one at a time, on the thread of the test.
private final class Heads: @unchecked Sendable {
  private(set) var headers: HTTPHeaders?
  private(set) var body = ""

  func write(_ event: TransportEvent) {
    if case .head(let head) = event { headers = head.headers }
    if case .chunk(let chunk) = event { body += String(decoding: chunk, as: UTF8.self) }
  }
}
