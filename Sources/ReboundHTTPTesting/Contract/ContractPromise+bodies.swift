import Foundation
import ReboundHTTP
import StreamSupport

/// What a request sends along.
extension ContractPromise {
  static let ofBodies: [ContractPromise] =
    [
      ContractPromise("sends a file with its length") { run in
        run.server.program("/", .answer())
        let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
        try Data(repeating: 7, count: 150_000).write(to: file)
        // What the test has made may be gone already.
        defer { try? FileManager.default.removeItem(at: file) }
        await run.send(TransportRequest(run.server.url(), method: .put, body: .file(file)))
        let received = try run.received()
        try run.expect("Content-Length", received[field: "Content-Length"], "150000")
        try run.expect("Transfer-Encoding", received[field: "Transfer-Encoding"], nil)
        try run.expect("bytes of the body", received.bodyCount, 150_000)
        try run.expect("the last progress", run.log.sent.last, 150_000)
        try run.expect(run.log.sent == run.log.sent.sorted(), "progress went back: \(run.log.sent)")
      },
      ContractPromise("sends a stream of unknown length in chunks, without waiting for a 100") { run in
        run.server.program("/", .answer())
        let body = BodyStream { PiecewiseReader(count: 100_000, piece: 7_000) }
        await run.send(TransportRequest(run.server.url(), method: .put, body: .stream(body)))
        let received = try run.received()
        try run.expect("Transfer-Encoding", received[field: "Transfer-Encoding"], "chunked")
        try run.expect("Expect", received[field: "Expect"], nil)
        try run.expect("bytes of the body", received.bodyCount, 100_000)
        try run.expect("the last progress", run.log.sent.last, 100_000)
      },
      // Two readers of both could take it to end in two places (RFC 9112 §6.2).
      ContractPromise("sends a stream of known length with that or in chunks, but never with both") { run in
        run.server.program("/", .answer())
        let body = BodyStream(length: 20_000) { PiecewiseReader(count: 20_000, piece: 7_000) }
        await run.send(TransportRequest(run.server.url(), method: .put, body: .stream(body)))
        let received = try run.received()
        let framing = [received[field: "Content-Length"], received[field: "Transfer-Encoding"]]
        try run.expect(framing == ["20000", nil] || framing == [nil, "chunked"], "length and coding are \(framing)")
        try run.expect("bytes of the body", received.bodyCount, 20_000)
      },
      ContractPromise("fails with .body when there is no such file") { run in
        let file = URL(filePath: "/nowhere/at/all")
        await run.send(TransportRequest(run.server.url(), method: .put, body: .file(file)))
        try run.expect("the failure", run.log.failure?.kind, .body)
        try run.expect("connections", run.server.connectionCount, 0)
      },
    ] + files + wrongLengths + unreadable

  /// What a server would take for a request if it came behind the end of another one's body (RFC 9112 §6.3).
  private static let smuggled = Data("GET /smuggled HTTP/1.1\r\nHost: there\r\n\r\n".utf8)

  private static let files = [
    ContractPromise("sends a file whole through a symbolic link") { run in
      run.server.program("/", .answer())
      try await run.withFile(of: 100_000) { file in
        let link = file.appendingPathExtension("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        defer { try? FileManager.default.removeItem(at: link) }
        await run.send(TransportRequest(run.server.url(), method: .put, body: .file(link), limits: .none))
        let received = try run.received()
        try run.expect("Content-Length", received[field: "Content-Length"], "100000")
        try run.expect("bytes of the body", received.bodyCount, 100_000)
      }
    },
    ContractPromise("sends of a file that grows meanwhile no more than it has said", .growingFiles) { run in
      // More than the buffers on the way hold, so that its end is read once the server goes on.
      let count = 20_000_000
      let answer = Fault.head(length: 2, fields: ["Connection: close"]) + "ok"
      // What comes behind the body is counted with it, until the client closes the connection (RFC 9112 §9.6).
      let steps: [Fault.Step] = [.stall, .readBody, .send(answer), .readSome(atMost: 65_536), .close]
      run.server.program("/", Fault("late reading", at: .request, steps))
      try await run.withFile(of: count) { file in
        let request = TransportRequest(run.server.url(), method: .put, body: .file(file), limits: .none)
        let exchange = run.transport().start(request, telling: run.log.add)
        await run.server.stallsReached()
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: smuggled)
        try handle.close()
        run.server.goOn()
        await run.log.end()
        exchange.cancel()
        await run.server.connectionsEnded()
        try run.expect("the status\(run.words(of: run.log.failure))", run.log.heads.map(\.status), [200])
        try run.expect("the last progress", run.log.sent.last, Int64(count))
        try run.expect("bytes that were sent behind the head", try run.received().bodyCount, count)
      }
    },
  ]

  private static let wrongLengths = [(5, "goes on behind"), (500, "ends before")].map { length, does in
    ContractPromise("fails with .body when a stream \(does) its length, and the next request is one of its own") {
      run in
      run.server.program("/", .answer())
      let (transport, content) = (run.transport(), TransportBody.data(Data("HELLO".utf8) + smuggled))
      let stream = BodyStream(length: Int64(length)) { try content.open() }
      let request = TransportRequest(run.server.url(), method: .post, body: .stream(stream), limits: .none)
      let log = await run.send(request, over: transport)
      try run.expect("the failure", log.failure?.kind, .body)
      let next = await run.send(TransportRequest(run.server.url("/next"), limits: .none), over: transport)
      try run.expect("the status of the next answer", next.heads.map(\.status), [404])
      let requests = run.server.requests
      try run.expect(
        requests.allSatisfy { $0.path != "/smuggled" },
        "the server took a part of the stream for a request"
      )
      try run.expect(requests.allSatisfy { $0.bodyCount < length }, "the server got a whole body")
    }
  }

  private struct Unreadable: Error {}

  private static let unreadable = [false, true].map { isMidway in
    ContractPromise("fails with .body when it cannot be read\(isMidway ? " to its end" : "")") { run in
      run.server.program("/", .answer())
      let isRead = Locked(false)
      let stream = BodyStream.once { count in
        let isFirst = isRead.withLock { isRead in
          defer { isRead = true }
          return !isRead
        }
        if isMidway, isFirst { return Data(repeating: 1, count: min(count, 10)) }
        throw Unreadable()
      }
      await run.send(TransportRequest(run.server.url(), method: .put, body: .stream(stream), limits: .none))
      try run.expect("the failure", run.log.failure?.kind, .body)
      try run.expect(run.log.failure?.underlying is Unreadable, "the error of the stream is not the underlying one")
    }
  }
}

extension ContractRun {
  /// Makes a file of zeros, which takes no space, and removes it when all is done with it.
  fileprivate func withFile(of count: Int, _ body: (URL) async throws -> Void) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    try Data().write(to: file)
    // The test may have removed it.
    defer { try? FileManager.default.removeItem(at: file) }
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(count))
    try handle.close()
    try await body(file)
  }
}

/// Gives so many bytes, a few at a time.
package final class PiecewiseReader: BodyReader {
  private var rest: Int
  private let piece: Int

  package init(count: Int, piece: Int) {
    rest = count
    self.piece = piece
  }

  package func read(upTo count: Int) throws -> Data {
    let part = min(count, piece, rest)
    rest -= part
    return Data(repeating: 46, count: part)
  }
}
