import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// One request and its answer: sends in a task of its own, and reads as it is asked.
final class RunningExchange: Sendable {
  private let connection: Connection
  private let upload: Task<Void, Never>
  private let parser: Mutex<AnswerParser>
  private let unread = Mutex<ArraySlice<AnswerParser.Part>>([])

  init(_ connection: Connection, _ request: HTTPClientRequest) {
    self.connection = connection
    parser = Mutex(AnswerParser(isBodiless: request.method.rawValue == "HEAD"))
    upload = Task {
      do {
        try await RunningExchange.send(request, over: connection)
      } catch is IOError {
        // What the server has said before counts; its silence is found by whoever reads.
      } catch {
        connection.bell.ring(error)
      }
    }
  }

  deinit {
    // Nobody reads any more.
    upload.cancel()
    connection.bell.ring(HTTPClientError.cancelled)
  }

  private static func send(_ request: HTTPClientRequest, over connection: Connection) async throws {
    let head = RequestHead(request)
    try await blocking { try connection.send(head.bytes) }
    try await request.body?.forEach { piece in
      // A collection of another module is copied byte by byte without the optimiser.
      let bytes = piece.withUnsafeReadableBytes { Array($0) }
      let size = String(bytes.count, radix: 16)
      let framed = head.isChunked ? Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8) : bytes
      try await blocking { try connection.send(framed) }
    }
    if head.isChunked { try await blocking { try connection.send(Array("0\r\n\r\n".utf8)) } }
  }

  func head() async throws -> AnswerParser.Head {
    guard case .head(let head) = try await next() else { throw HTTPClientError.remoteConnectionClosed }
    return head
  }

  func chunk() async throws -> ByteBuffer? {
    guard case .body(let bytes) = try await next() else { return nil }
    return ByteBuffer(bytes: bytes)
  }

  private func next() async throws -> AnswerParser.Part? {
    while true {
      if let part = unread.withLock({ $0.popFirst() }) { return part }
      if parser.withLock({ $0.isComplete }) { return nil }
      let bytes = try await withTaskCancellationHandler {
        try await blocking { [connection] in try connection.receive() }
      } onCancel: {
        connection.bell.ring(CancellationError())
      }
      let parts = try parser.withLock { parser in
        try bytes.isEmpty ? parser.end() : parser.take(bytes)
      }
      unread.withLock { $0 += parts }
    }
  }
}

/// The first lines of a request (RFC 9112 §3).
private struct RequestHead {
  let bytes: [UInt8]
  let isChunked: Bool

  init(_ request: HTTPClientRequest) {
    let url = URLComponents(string: request.url)
    let path = url?.percentEncodedPath ?? ""
    let query = url?.percentEncodedQuery.map { "?\($0)" } ?? ""
    var lines = ["\(request.method.rawValue) \(path.isEmpty ? "/" : path)\(query) HTTP/1.1"]
    lines.append("Host: \(url?.host ?? "")\(url?.port.map { ":\($0)" } ?? "")")
    lines.append("Connection: close")
    for field in request.headers { lines.append("\(field.name): \(field.value)") }
    switch request.body?.length {
    case .unknown:
      isChunked = true
      lines.append("Transfer-Encoding: chunked")
    case .known(let length):
      isChunked = false
      lines.append("Content-Length: \(length)")
    case nil:
      isChunked = false
      if ["POST", "PUT", "PATCH"].contains(request.method.rawValue) { lines.append("Content-Length: 0") }
    }
    bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }
}
