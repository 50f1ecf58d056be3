import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import StreamSupport
import Testing

/// What is sent of a body that is not what it seems: exactly as many bytes as the server was told (RFC 9112 §6.3).
@Suite("Uploads", .timeLimit(.minutes(10)))
struct UploadTests {
  private let folder = TemporaryFolder()

  init() throws {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
  }

  private static let smuggled = Data("GET /smuggled HTTP/1.1\r\nHost: there\r\n\r\n".utf8)

  private static func outcome(of request: TransportRequest, on transport: any Transport) async -> TransportLog {
    let log = TransportLog()
    let exchange = transport.start(request, telling: log.add)
    await log.end()
    exchange.cancel()
    return log
  }

  /// A file of zeros, which takes no space.
  private func makeFile(of count: Int) throws -> URL {
    let file = folder.url.appending(path: "file")
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(count))
    try handle.close()
    return file
  }

  private static func append(_ data: Data, to file: URL) throws {
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    try handle.write(contentsOf: data)
    try handle.close()
  }

  @Test("a file is sent whole through a symbolic link", arguments: TransportKind.allCases)
  func link(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .answer())
    let file = try makeFile(of: 100_000)
    let link = folder.url.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    let request = TransportRequest(server.url(), method: .put, body: .file(link), limits: .none)
    let log = await Self.outcome(of: request, on: kind.make())
    #expect(log.heads.first?.status == 200, "\(String(describing: log.failure))")
    #expect(server.requests.map { $0[field: "Content-Length"] } == ["100000"])
    #expect(server.requests.map(\.bodyCount) == [100_000])
  }

  @Test(
    "a stream that goes on behind its length fails, and nothing behind it is taken for a request",
    arguments: TransportKind.allCases
  )
  func longStream(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .answer())
    let (transport, body) = (kind.make(), TransportBody.data(Data("HELLO".utf8) + Self.smuggled))
    let stream = BodyStream(length: 5) { try body.open() }
    let request = TransportRequest(server.url(), method: .post, body: .stream(stream), limits: .none)
    let log = await Self.outcome(of: request, on: transport)
    #expect(log.failure?.kind == .body)
    let next = await Self.outcome(of: TransportRequest(server.url("/next"), limits: .none), on: transport)
    #expect(next.heads.first?.status == 404)
    #expect(server.requests.allSatisfy { $0.target != "/smuggled" && $0.bodyCount == 0 })
  }

  @Test(
    "a stream that ends before its length fails, and does not go on with the next request",
    arguments: TransportKind.allCases
  )
  func shortStream(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .answer())
    let transport = kind.make()
    let stream = BodyStream(length: 50) { PiecewiseReader(count: 5, piece: 5) }
    let request = TransportRequest(server.url(), method: .post, body: .stream(stream), limits: .none)
    let log = await Self.outcome(of: request, on: transport)
    #expect(log.failure?.kind == .body)
    let next = await Self.outcome(of: TransportRequest(server.url("/next"), limits: .none), on: transport)
    #expect(next.heads.first?.status == 404)
    #expect(server.requests.allSatisfy { $0.bodyCount <= 5 })
  }

  @Test(
    "of a file that grows while it is sent, what is added is no part of the request; URLSession on Linux fails",
    arguments: TransportKind.allCases
  )
  func growingFile(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    // More than the system's buffers hold, so that the end of it is read once the server goes on.
    let count = 20_000_000
    let ok = Fault.head(length: 2) + "ok"
    server.program("/", Fault("slow", at: .request, [.stall, .readBody, .send(ok)]), .answer())
    let file = try makeFile(of: count)
    let (transport, log) = (kind.make(), TransportLog())
    let request = TransportRequest(server.url(), method: .put, body: .file(file), limits: .none)
    let exchange = transport.start(request, telling: log.add)
    await server.stallsReached()
    try Self.append(Self.smuggled, to: file)
    server.goOn()
    await log.end()
    exchange.cancel()
    #if !canImport(Darwin)
      if kind == .urlSession {
        #expect(log.failure?.kind == .body)
        return
      }
    #endif
    #expect(log.heads.first?.status == 200, "\(String(describing: log.failure))")
    #expect(log.sent.last == Int64(count))
    let next = await Self.outcome(of: TransportRequest(server.url("/next"), limits: .none), on: transport)
    #expect(next.heads.first?.status == 404)
    #expect(server.requests.map(\.target) == ["/", "/next"])
    #expect(server.requests.map(\.bodyCount) == [count, 0])
  }

  @Test(
    "a multipart body of which a file has given way to another is one that cannot be read",
    arguments: TransportKind.allCases
  )
  func replacedFile(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .answer())
    let file = try makeFile(of: 1_000)
    let body = RequestBody.multipart([.file("log", file), .field("title", "Hello")])
    var message = try Anything(method: .post, body: body).message(base: server.url())
    message.limits = .none
    let other = folder.url.appending(path: "other")
    try Data(count: 1_500).write(to: other)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: other, to: file)
    let transport = kind.make()
    let log = await Self.outcome(of: message, on: transport)
    #expect(log.failure?.kind == .body)
    let next = await Self.outcome(of: TransportRequest(server.url("/next"), limits: .none), on: transport)
    #expect(next.heads.first?.status == 404)
    #expect(server.requests.allSatisfy { $0.bodyCount < 1_000 })
  }

  // URLSession wrote such a piece beyond the buffer that it was to fill, and the process ended by a signal.
  @Test("a stream that gives more at a time than it is asked for is sent as it is", arguments: TransportKind.allCases)
  func largePieces(kind: TransportKind) async {
    await #expect(processExitsWith: .success) { [kind] in
      let server = try MisbehavingServer()
      server.program("/", .answer())
      let left = Locked(3)
      let stream = BodyStream.once { _ in
        let isOver = left.withLock { left in
          left -= 1
          return left < 0
        }
        return isOver ? Data() : Data(repeating: 66, count: 4_000_000)
      }
      let request = TransportRequest(server.url(), method: .put, body: .stream(stream), limits: .none)
      let log = await UploadTests.outcome(of: request, on: kind.make())
      #expect(log.failure == nil, "\(String(describing: log.failure))")
      #expect(server.requests.map(\.bodyCount) == [12_000_000])
    }
  }
}
