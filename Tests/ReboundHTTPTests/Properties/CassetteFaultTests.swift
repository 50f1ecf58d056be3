import Expectations
import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import Testing

/// What a real network did, a cassette does again.
@Suite("cassettes of a network", .timeLimit(.minutes(10)))
struct CassetteFaultTests {
  private static let faults: [Fault] = [
    .answer("sunny", fields: ["X-Answer: 42", "Set-Cookie: id=s3cr3t"]), .status(503, fields: ["Retry-After: 7"]),
    .redirect(to: "/?token=s3cr3t"), .drippingBody, .gzippedAnswer, .bodyUntilClose, .closeInBody, .closeAfterHead,
    .closeInChunk, .emptyReply, .resetBeforeHead, .closeInStatusLine, .notHTTP, .wordForStatus, .refusedUpload,
  ]

  /// Events without what is secret, and with the parts of a body as one.
  private func story(_ log: TransportLog) -> [String] {
    let heads = log.heads.map {
      "\($0.status) \(Redaction.standard.headers($0.headers).filter { $0.name != "Location" })"
    }
    let failure = log.failure.map { "\($0.kind) \($0.bytesSent) \($0.bytesReceived) \($0.provesNothingWasSent)" }
    return [log.order, "\(log.sent)"] + heads + [String(decoding: log.body, as: UTF8.self), failure ?? "finished"]
  }

  @Test("every fault is recorded, and comes back the same", arguments: TransportKind.allCases)
  func faults(kind: TransportKind) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "cassette-\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try MisbehavingServer()
    let port = try RefusingPort()
    var requests = Self.faults.enumerated().map { number, fault in
      server.program("/\(number)", fault)
      return TransportRequest(server.url("/\(number)"), method: .put, body: .data(Data("what?".utf8)))
    }
    // Whether it was sent is known from another thing than its kind.
    let secured = try MisbehavingServer()
    secured.programConnections(then: .resetInHandshake)
    requests.append(TransportRequest(secured.url(scheme: "https"), method: .post))
    requests.append(TransportRequest(try #require(URL(string: "http://127.0.0.1:\(port.port)/"))))
    let recording = try CassetteTransport(file, .record(kind.make()))
    var stories: [[String]] = []
    for request in requests {
      let log = TransportLog()
      let exchange = recording.start(request, telling: log.add)
      await log.end()
      stories.append(story(log))
      exchange.cancel()
    }
    try recording.save()
    #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cr3t"))
    let cassette = try CassetteTransport(file)
    for (request, expected) in zip(requests, stories) {
      let log = TransportLog()
      _ = cassette.start(request, telling: log.add)
      expectEqual(story(log), expected, "\(request.url)")
    }
    try cassette.checkAllUsed()
  }
}
