#if Redis
  import Foundation
  import Rebound
  import StreamSupport

  /// A program that runs beside this one, and whose lines are read.
  final class Child: Sendable {
    private let process: Locked<Process>
    private let log = Locked<[String]>([])

    /// - Parameter whenRead: Gets each line, on a thread of its own.
    init(_ program: String, _ arguments: [String], whenRead: (@Sendable (String) -> Void)? = nil) throws {
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.currentDirectoryURL = FileManager.default.temporaryDirectory
      process.standardOutput = output
      process.standardInput = FileHandle.nullDevice
      try process.run()
      self.process = Locked(process)
      let reading = output.fileHandleForReading
      Thread.detachNewThread { [self] in
        var rest = Data()
        while true {
          let more = reading.availableData
          guard !more.isEmpty else { return }
          rest += more
          while let end = rest.firstIndex(of: 10) {
            let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
            rest = Data(rest[(end + 1)...])
            if let whenRead { whenRead(line) } else { log.withLock { $0.append(line) } }
          }
        }
      }
    }

    var lines: [String] { log.withLock { $0 } }

    func signal(_ number: Int32) {
      process.withLock { if $0.isRunning { _ = Glibc.kill($0.processIdentifier, number) } }
    }

    func kill() {
      signal(SIGKILL)
      process.withLock { $0 }.waitUntilExit()
    }
  }

  /// A server of Redis for one run.
  final class Server: Sendable {
    let port: Int
    private let child = Locked<Child?>(nil)

    init(port: Int) async throws {
      self.port = port
      try await start()
    }

    func start() async throws {
      let (ready, continuation) = AsyncStream<Void>.makeStream()
      let child = try Child("/usr/bin/redis-server", ["--port", "\(port)", "--save", ""]) { line in
        if line.contains("Ready to accept connections") { continuation.finish() }
      }
      self.child.withLock { $0 = child }
      for await _ in ready {}
    }

    func kill() { child.exchange(nil)?.kill() }
    func signal(_ number: Int32) { child.withLock { $0 }?.signal(number) }
  }

  /// The present by the clock of the machine, which all processes share.
  var milliseconds: Int { Int(Date().timeIntervalSince1970 * 1_000) }

  func pause(_ seconds: Double) async throws {
    try await TimeSource.system.sleep(for: .seconds(seconds))
  }

  /// Waits, and says every five seconds how much of it is over.
  func pause(_ seconds: Double, noting name: String) async throws {
    let start = milliseconds
    for second in stride(from: 0, to: seconds, by: 5) {
      note("\(name): \(Int(second)) of \(Int(seconds)) s")
      // By the clock, so that what is late once is not late for ever.
      try await pause(max(min(second + 5, seconds) - Double(milliseconds - start) / 1_000, 0))
    }
  }

  func startMembers(_ count: Int, _ arguments: [String], as word: String = "member") throws -> [Child] {
    try (0..<count).map { number in
      try Child(CommandLine.arguments[0], [word, "--number", "\(number + 1)"] + arguments)
    }
  }
#endif
