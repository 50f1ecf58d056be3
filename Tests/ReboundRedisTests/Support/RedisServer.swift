#if Redis
  import Foundation
  import Rebound
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  /// A server of one test, on a free port of this machine, which ends with it.
  final class RedisServer: Sendable {
    static let executable: String? = ["/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }

    let port: Int
    private let options: [String]
    private let isEncrypted: Bool
    private let process = Locked<Process?>(nil)

    /// Starts a server, and returns when it accepts connections.
    convenience init(_ options: String...) throws {
      try self.init(options: options)
    }

    /// Starts a server whose connections are encrypted.
    convenience init(tls options: [String]) throws {
      try self.init(options: options, isEncrypted: true)
    }

    private init(options: [String], isEncrypted: Bool = false) throws {
      (port, self.options, self.isEncrypted) = (try Self.freePort(), options, isEncrypted)
      try start()
    }

    deinit {
      kill()
    }

    var address: RedisAddress { .tcp("127.0.0.1", port: port) }

    func address(_ tls: RedisTLS, host: String = "127.0.0.1") -> RedisAddress { .tcp(host, port: port, tls: tls) }

    func start() throws {
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: try #require(Self.executable))
      process.arguments =
        (isEncrypted ? ["--port", "0", "--tls-port", "\(port)"] : ["--port", "\(port)"])
        + ["--save", "", "--enable-debug-command", "yes"] + options
      process.currentDirectoryURL = FileManager.default.temporaryDirectory
      process.standardOutput = output
      try process.run()
      self.process.withLock { $0 = process }
      var text = Data()
      while !text.contains("Ready to accept connections") {
        let more = output.fileHandleForReading.availableData
        try #require(!more.isEmpty, "redis-server has ended: \(String(decoding: text, as: UTF8.self))")
        text += more
      }
      // Nobody asks what it says from here on, and one whose pipe is full answers nobody; what it writes to a closed one is lost.
      // No handler that reads on: with one for each server, a busy machine has seen libdispatch's loop of descriptors crash.
      try output.fileHandleForReading.close()
    }

    /// As a machine that loses its power.
    func kill() { end(with: SIGKILL) }

    /// As a machine that answers nobody, and keeps all connections.
    func freeze() { signal(SIGSTOP) }
    func thaw() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
      process.withLock { if let process = $0 { _ = Glibc.kill(process.processIdentifier, number) } }
    }

    private func end(with number: Int32) {
      guard let process = process.exchange(nil) else { return }
      _ = Glibc.kill(process.processIdentifier, number)
      process.waitUntilExit()
    }

    /// None that the system gives to whoever asks for any (on Linux those begin at 32,768), since nobody keeps it until the
    /// server has it, nor while that is down; nor one that another test has had, which may be about what is without its server.
    static func freePort() throws -> Int {
      let drawn = (0..<100).lazy.map { _ in Int.random(in: 10_000..<32_768) }
      return try #require(drawn.first(where: { port in isFree(port) && taken.withLock { $0.insert(port).inserted } }))
    }

    private static let taken = Locked<Set<Int>>([])

    private static func isFree(_ port: Int) -> Bool {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      return withLoopback(port) { bind(descriptor, $0, $1) } == 0
    }
  }

  extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
  }

  extension Trait where Self == ConditionTrait {
    /// The test needs a server of Redis.
    static var needsRedis: Self {
      .enabled(if: RedisServer.executable != nil, "redis-server is not installed: scripts/setup redis")
    }
  }
#endif
