import Expectations

#if Curl && os(Linux)
  import Combine
  import Foundation
  import Rebound
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundTesting
  import StreamSupport
  import Testing

  /// Bodies over both transports and a real server; `scripts/big-bodies` has them larger than memory should ever hold, and
  /// measures.
  ///
  /// Over libcurl with TLS; URLSession trusts nobody else's certificates, so it has the same server without.
  @Suite("Big bodies over the network", .serialized, .timeLimit(.minutes(30)))
  struct BigBodyTests {
    /// How many bytes the bodies have, and whether memory is measured: it is the process's, so nothing may run beside.
    private static let measured = ProcessInfo.processInfo.environment["REBOUND_BODY_BYTES"].flatMap { Int($0) }
    private static let report = ProcessInfo.processInfo.environment["REBOUND_BODY_REPORT"]
    private static let count = measured ?? 4 << 20
    /// What a body may take over libcurl; URLSession on Linux keeps what it likes, which is only told.
    private static let allowed = 32 << 20

    /// How much more memory than before was resident at the highest, and how far a body has come.
    private final class Watch: Sendable {
      private let what: String
      private let start: Int
      private let told = Locked<Int64>(0)

      init(_ what: String) {
        self.what = what
        ProcessResources.trimMemory()
        ProcessResources.resetPeak()
        start = ProcessResources.now.memory
      }

      /// Tells of each quarter.
      func look(_ progress: TransferProgress) {
        guard measured != nil else { return }
        let quarter =
          switch progress {
          case .sent(let count, of: _), .received(let count, of: _): count * 4 / Int64(BigBodyTests.count)
          }
        let isNew = told.withLock { told in
          defer { told = max(told, quarter) }
          return quarter > told
        }
        if isNew, quarter < 4 { BigBodyTests.tell("\(what): \(quarter * 25) %") }
      }

      func check(_ kind: TransportKind) {
        guard measured != nil else { return }
        let growth = max(ProcessResources.peakMemory - start, 0)
        if kind == .curl { #expect(growth <= allowed, "\(what): \(growth >> 20) MiB over the idle process") }
        BigBodyTests.tell("\(what): \(count >> 20) MiB whole, at most \(growth >> 10) KiB over the idle process")
      }
    }

    private static func tell(_ line: String) {
      guard let report, let file = FileHandle(forWritingAtPath: report) else { return }
      // A report that cannot be written is seen to be short.
      _ = try? file.seekToEnd()
      try? file.write(contentsOf: Data("\(line)\n".utf8))
      try? file.close()
    }

    /// nginx with and without TLS, and a body of random bytes in its folder.
    private struct Setting {
      let server: NginxServer
      let plainPort: UInt16
      private let maker: ShellKeeper

      init() async throws {
        plainPort = try FreePort.draw()
        server = try await NginxServer.start(
          """
          listen 127.0.0.1:\(plainPort);
          location /big/ { client_max_body_size 0; dav_methods PUT; root .; }
          """
        )
        // The same bytes for whoever makes them, as fast as a disk takes them.
        maker = try ShellKeeper(
          """
          set -e
          mkdir \(server.folder.path)/big
          head -c \(count) /dev/zero | openssl enc -aes-128-ctr -K 01 -iv 02 2>/dev/null >\(server.folder.path)/big/body
          echo ready
          read -r line
          """
        )
      }

      var body: URL { server.folder.appending(path: "big/body") }

      func client(_ kind: TransportKind) throws -> WebAPIClient {
        switch kind {
        case .curl:
          let transport = CurlTransport(try .trustingTests())
          return WebAPIClient(baseURL: try server.url(), transport: transport, deliveringOn: nil)
        case .urlSession:
          guard let url = URL(string: "http://127.0.0.1:\(plainPort)/") else { throw URLError(.badURL) }
          return WebAPIClient(baseURL: url, transport: URLSessionTransport(), deliveringOn: nil)
        }
      }

      /// Whether a file is the body, byte for byte.
      func isBody(_ file: URL) -> Bool {
        (try? ShellKeeper("cmp -s \(body.path) \(file.path) && echo ready; read -r line")) != nil
      }
    }

    @Test("a download into a file takes no memory, and arrives whole", arguments: TransportKind.allCases)
    func download(kind: TransportKind) async throws {
      let setting = try await Setting()
      let client = try setting.client(kind)
      let target = setting.server.folder.appending(path: "downloaded")
      // The first call loads what every call needs.
      try await client.download(Anything(), to: target)
      let watch = Watch("download, \(kind.rawValue)")
      try await client.download(Anything(path: "big/body"), to: target, progress: watch.look)
      watch.check(kind)
      #expect(setting.isBody(target))
    }

    @Test(
      "a body that is read slowly as a sequence arrives whole; over libcurl it takes no memory, since the server waits",
      arguments: TransportKind.allCases
    )
    func chunks(kind: TransportKind) async throws {
      let setting = try await Setting()
      let client = try setting.client(kind)
      for try await _ in client.chunks(for: Anything()).values {}
      let body = try FileHandle(forReadingFrom: setting.body)
      let watch = Watch("chunks, \(kind.rawValue)")
      var (count, largest, isSame) = (0, 0, true)
      for try await chunk in client.chunks(for: Anything(path: "big/body"), progress: watch.look).values {
        count += chunk.count
        largest = max(largest, chunk.count)
        isSame = try isSame && body.read(upToCount: chunk.count) == chunk
        await Task.yield()
      }
      watch.check(kind)
      expectEqual(count, Self.count)
      #expect(isSame)
      if kind == .curl { #expect(largest <= 65_536) }
    }

    @Test(
      "an upload takes no memory, from a file, and from a stream of known and of unknown length",
      arguments: TransportKind.allCases
    )
    func upload(kind: TransportKind) async throws {
      let setting = try await Setting()
      let source = setting.body
      let client = try setting.client(kind)
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
        let watch = Watch("upload of a \(what), \(kind.rawValue)")
        let request = Anything(path: "big/uploaded", method: .put, body: body)
        for try await _ in client.responses(for: request, progress: watch.look).values {}
        watch.check(kind)
        #expect(setting.isBody(setting.server.folder.appending(path: "big/uploaded")), "\(what)")
      }
    }

    // MARK: Killed

    /// What is sent again for each break, and the heads of a request's answer.
    private static let lostPerKill = 65_536 + 1_024

    private static func client(_ port: UInt16, _ kind: TransportKind, _ middleware: [any HTTPMiddleware] = []) throws
      -> WebAPIClient
    {
      guard let url = URL(string: "http://127.0.0.1:\(port)/") else { throw URLError(.badURL) }
      let transport = kind.make()
      return WebAPIClient(baseURL: url, transport: transport, middleware: middleware, deliveringOn: nil)
    }

    // What is counted is what the server's side has sent, all of which reaches the client before the end does.
    @Test(
      "a download whose connection ends ten times at random arrives whole, and little of it is sent twice",
      arguments: TransportKind.allCases,
      1...2
    )
    func killed(kind: TransportKind, seed: UInt64) async throws {
      let setting = try await Setting()
      let (large, count) = (try TestCertificates.file("large"), TestCertificates.largeCount)
      var random = SeededRandom(seed: seed)
      let kills = (0..<10).map { _ in 1_024 + Int(random.next() % UInt64(count / 11)) }
      let relay = try BreakingRelay(to: setting.plainPort, endingAfter: kills)
      let target = setting.server.folder.appending(path: "downloaded")
      // Two retries for each of four clients, as of a program that is started anew: nothing goes on but the part.
      let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .immediate))
      var failures = 0
      for start in 1...4 {
        let client = try Self.client(relay.port, kind, [retrying])
        do throws(NetworkFailure) {
          try await client.download(Anything(path: "large"), to: target)
          expectEqual(start, 4)
        } catch {
          expectEqual(error.kind, .transport(.truncated))
          failures += 1
        }
      }
      expectEqual(failures, 3)
      expectEqual(relay.carried.count, 11)
      #expect(relay.carried.reduce(0, +) <= count + 11 * Self.lostPerKill)
      try expectEqual(Data(contentsOf: target), Data(contentsOf: large))
      #expect(!FileManager.default.fileExists(atPath: target.path + ".part"))
    }

    /// How often a process is killed; `scripts/big-bodies` has it more often.
    private static let killCount = measured == nil ? 3 : 10

    @Test(
      "a download whose processes are killed at random goes on in the next, and over libcurl little of it is sent twice",
      arguments: TransportKind.allCases
    )
    func killedProcess(kind: TransportKind) async throws {
      let setting = try await Setting()
      let relay = try BreakingRelay(to: setting.plainPort)
      let target = setting.server.folder.appending(path: "downloaded")
      let (port, path, digest) = (relay.port, target.path, try TestCertificates.largeDigest)
      let count = TestCertificates.largeCount
      var random = SeededRandom(seed: 7)
      let kills = (0..<Self.killCount).map { _ in 262_144 + Int64(random.next() % UInt64(count - 524_288)) }.sorted()
      for bytes in kills {
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [port = port as UInt16, path = path as String, bytes = bytes as Int64, kind] in
          let client = try BigBodyTests.client(port, kind)
          try await client.download(Anything(path: "large"), to: URL(filePath: path)) { progress in
            if case .received(let count, of: _) = progress, count >= bytes { kill(getpid(), SIGKILL) }
          }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        // Where the disk's thread is late to let libcurl go on, one piece more. URLSession on Linux hands on megabytes at
        // once, and on a busy machine none of them is on disk yet.
        if kind == .curl {
          let kept = try FileManager.default.attributesOfItem(atPath: path + ".part")[.size] as? NSNumber
          #expect(kept?.int64Value ?? 0 >= bytes - 65_536 - 16_384)
        }
      }
      await #expect(processExitsWith: .success) {
        [port = port as UInt16, path = path as String, digest = digest as String, kind] in
        let client = try BigBodyTests.client(port, kind)
        let file = URL(filePath: path)
        try await client.download(Anything(path: "large"), to: file, verifying: .sha256(digest))
      }
      // Of the others, what they had sent when the process was killed was on its way.
      expectEqual(relay.carried.count, kills.count + 1)
      if kind == .curl, let last = kills.last, let carried = relay.carried.last {
        #expect(carried <= count - Int(last) + Self.lostPerKill + 16_384)
      }
      try expectEqual(Data(contentsOf: target), Data(contentsOf: TestCertificates.file("large")))
    }
  }
#endif
