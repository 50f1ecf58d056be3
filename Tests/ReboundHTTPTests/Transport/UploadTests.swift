import Expectations
import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import StreamSupport
import Testing

/// What is sent of a body that is not what it seems, besides what the contract of transports asks of each.
@Suite("Uploads", .timeLimit(.minutes(10)))
struct UploadTests {
  private let folder = TemporaryFolder()

  init() throws {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
  }

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

  // The others send no more of it than they have said, which the contract asks of them.
  #if !canImport(Darwin)
    @Test("a file that grows while URLSession on Linux sends it is one that cannot be read")
    func growingFile() async throws {
      let server = try MisbehavingServer()
      // More than the system's buffers hold, so that the end of it is read once the server goes on.
      let ok = Fault.head(length: 2) + "ok"
      server.program("/", Fault("slow", at: .request, [.stall, .readBody, .send(ok)]))
      let file = try makeFile(of: 20_000_000)
      let log = TransportLog()
      let request = TransportRequest(server.url(), method: .put, body: .file(file), limits: .none)
      let exchange = TransportKind.urlSession.make().start(request, telling: log.add)
      await server.stallsReached()
      try Self.append(Data("more".utf8), to: file)
      server.goOn()
      await log.end()
      exchange.cancel()
      expectEqual(log.failure?.kind, .body)
    }
  #endif

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
    expectEqual(log.failure?.kind, .body)
    let next = await Self.outcome(of: TransportRequest(server.url("/next"), limits: .none), on: transport)
    expectEqual(next.heads.first?.status, 404)
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
      expectEqual(server.requests.map(\.bodyCount), [12_000_000])
    }
  }
}
