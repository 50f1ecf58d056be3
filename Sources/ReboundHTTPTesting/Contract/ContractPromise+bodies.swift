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
    ] + unreadable

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
