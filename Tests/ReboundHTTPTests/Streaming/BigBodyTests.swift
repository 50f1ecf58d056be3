#if Curl && os(Linux)
  import Combine
  import Foundation
  import Rebound
  import ReboundHTTP
  import ReboundTesting
  import StreamSupport
  import Testing

  /// Bodies over curl and a real server; `scripts/big-bodies` has them larger than memory should ever hold, and measures.
  @Suite("Big bodies over the network", .serialized, .timeLimit(.minutes(10)))
  struct BigBodyTests {
    /// How many bytes the bodies have, and whether memory is measured: it is the process's, so nothing may run beside.
    private static let measured = ProcessInfo.processInfo.environment["REBOUND_BODY_BYTES"].flatMap { Int($0) }
    private static let report = ProcessInfo.processInfo.environment["REBOUND_BODY_REPORT"]
    private static let count = measured ?? 4 << 20
    private static let allowed = 32 << 20

    /// Memory at its highest, looked at each time that some megabytes have passed.
    private final class Peak: Sendable {
      private struct State {
        var highest = 0
        var last: Int64 = 0
      }

      private let start: Int
      private let state = Locked(State())

      init() {
        ProcessResources.trimMemory()
        start = ProcessResources.now.memory
      }

      func look(_ progress: TransferProgress) {
        let count =
          switch progress {
          case .sent(let count, of: _), .received(let count, of: _): count
          }
        let isDue = state.withLock { state in
          guard count - state.last >= 1 << 20 else { return false }
          state.last = count
          return true
        }
        guard isDue else { return }
        let now = ProcessResources.now.memory
        state.withLock { $0.highest = max($0.highest, now) }
      }

      var growth: Int { max(state.withLock { $0.highest } - start, 0) }
    }

    private static func check(_ peak: Peak, _ what: String) throws {
      guard measured != nil else { return }
      #expect(peak.growth <= allowed, "\(what): \(peak.growth >> 20) MiB over the idle process")
      guard let report else { return }
      let line = "\(what): \(count >> 20) MiB, at most \(peak.growth >> 10) KiB over the idle process\n"
      let before = (try? String(contentsOfFile: report, encoding: .utf8)) ?? ""
      try (before + line).write(toFile: report, atomically: true, encoding: .utf8)
    }

    private static func server() async throws -> NginxServer {
      let server = try await NginxServer.start(
        "location /big/ { client_max_body_size 0; dav_methods PUT; root .; }"
      )
      try FileManager.default.createDirectory(
        at: server.folder.appending(path: "big"),
        withIntermediateDirectories: true
      )
      return server
    }

    private static func client(
      _ server: NginxServer,
      over transport: (any Transport)? = nil,
      _ middleware: [any Middleware] = []
    ) throws -> WebAPIClient {
      let curl = CurlTransport(try .trustingTests())
      return WebAPIClient(
        baseURL: try server.url(),
        transport: transport ?? curl,
        middleware: middleware,
        deliveringOn: nil
      )
    }

    /// A file that takes no space, since nothing is in it.
    private static func makeHole(_ file: URL) throws {
      try Data().write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.truncate(atOffset: UInt64(count))
      try handle.close()
    }

    private static func size(_ file: URL) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
    }

    @Test("a download into a file takes no memory")
    func download() async throws {
      let server = try await Self.server()
      defer { server.stop() }
      try Self.makeHole(server.folder.appending(path: "big/body"))
      let client = try Self.client(server)
      let target = server.folder.appending(path: "downloaded")
      // The first call loads what every call needs.
      try await client.download(Anything(), to: target)
      let peak = Peak()
      try await client.download(Anything(path: "big/body"), to: target, progress: peak.look)
      #expect(try Self.size(target) == Self.count)
      try Self.check(peak, "download")
    }

    @Test("a body that is read slowly as a sequence takes no memory: the server waits")
    func chunks() async throws {
      let server = try await Self.server()
      defer { server.stop() }
      try Self.makeHole(server.folder.appending(path: "big/body"))
      let client = try Self.client(server)
      for try await _ in client.chunks(for: Anything()).values {}
      let peak = Peak()
      var (count, largest) = (0, 0)
      for try await chunk in client.chunks(for: Anything(path: "big/body"), progress: peak.look).values {
        count += chunk.count
        largest = max(largest, chunk.count)
        await Task.yield()
      }
      #expect(count == Self.count)
      #expect(largest <= 65_536)
      try Self.check(peak, "chunks")
    }

    @Test("an upload takes no memory, from a file, and from a stream of known and of unknown length")
    func upload() async throws {
      let server = try await Self.server()
      defer { server.stop() }
      let source = server.folder.appending(path: "source")
      try Self.makeHole(source)
      let client = try Self.client(server)
      _ = try await client.value(of: Anything())
      let bodies: [(String, RequestBody)] = [
        ("file", .file(source)),
        (
          "stream of known length",
          .stream(BodyStream(length: Int64(Self.count)) { try TransportBody.file(source).open() }, contentType: "a/b")
        ),
        (
          "stream of unknown length",
          .stream(BodyStream { try TransportBody.file(source).open() }, contentType: "a/b")
        ),
      ]
      for (what, body) in bodies {
        let peak = Peak()
        let request = Anything(path: "big/uploaded", method: .put, body: body)
        for try await _ in client.responses(for: request, progress: peak.look).values {}
        #expect(try Self.size(server.folder.appending(path: "big/uploaded")) == Self.count)
        try Self.check(peak, "upload of a \(what)")
      }
    }

    @Test("a download that is killed ten times at random arrives whole, and little of it comes twice", arguments: 1...3)
    func killed(seed: UInt64) async throws {
      let server = try await Self.server()
      defer { server.stop() }
      let body = RangeScript.bytes(Self.killedCount, seed: seed)
      try body.write(to: server.folder.appending(path: "big/body"))
      var random = SeededRandom(seed: seed)
      let kills = (0..<10).map { _ in Int(random.next() % UInt64(Self.killedCount / 10)) }
      let transport = KillingTransport(CurlTransport(try .trustingTests()), after: kills)
      let target = server.folder.appending(path: "downloaded")
      // Two retries for each of four clients, as of a program that is started anew: nothing goes on but the part.
      let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .immediate))
      var failures = 0
      for start in 1...4 {
        let client = try Self.client(server, over: transport, [retrying])
        do throws(NetworkFailure) {
          try await client.download(Anything(path: "big/body"), to: target)
          #expect(start == 4)
        } catch {
          #expect(error.kind == .transport(.truncated))
          failures += 1
        }
      }
      #expect(failures == 3)
      #expect(try Data(contentsOf: target) == body)
      #expect(transport.killCount == 10)
      #expect(transport.fetchedCount <= Self.killedCount + 10 * 65_536)
      #expect(!FileManager.default.fileExists(atPath: target.path + ".part"))
    }

    private static let killedCount = 2_000_000
  }
#endif
