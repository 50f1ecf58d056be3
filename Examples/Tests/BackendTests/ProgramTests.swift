import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("backend-server")
struct ProgramTests {
  /// The program, running.
  private final class Run: Sendable {
    let process: Process
    private let output = Pipe()
    private let errors = Pipe()
    private let ended = Signal()

    init(_ environment: [String: String]) throws {
      process = Process()
      // The test's own program lies beside it.
      process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "backend-server")
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardOutput = output
      process.standardError = errors
      process.terminationHandler = { [ended] _ in ended.give() }
      try process.run()
    }

    func firstLine() async throws -> String {
      try await onOwnThread { [output] in
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      }
    }

    func end() async throws -> (status: Int32, errors: String) {
      try await ended.wait()
      let text = try await onOwnThread { [errors] in
        String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      }
      return (process.terminationStatus, text)
    }
  }

  @Test("it says in one line where it listens, and ends cleanly when asked to", arguments: [SIGINT, SIGTERM])
  func lifecycle(signal: Int32) async throws {
    let run = try Run(["BACKEND_PORT": "0", "BACKEND_DATABASE": ":memory:"])
    let line = try await run.firstLine()
    let match = try #require(line.wholeMatch(of: /Backend listening on http:\/\/127\.0\.0\.1:(\d+)\n/))
    let port = try #require(UInt16(match.1))
    let answer = try await LoopbackClient.request("GET", "/health", port: port)
    #expect(answer?.status == 200)
    kill(run.process.processIdentifier, signal)
    let end = try await run.end()
    #expect(end.status == 0)
    #expect(end.errors.isEmpty)
  }

  @Test("a taken port ends it with one line that says what to do")
  func takenPort() async throws {
    let server = try HTTPServer(.init()) { _ in Response() }
    let run = try Run(["BACKEND_PORT": "\(server.port)", "BACKEND_DATABASE": ":memory:"])
    let end = try await run.end()
    #expect(end.status == 1)
    #expect(
      end.errors == """
        backend-server: Port \(server.port) is taken: another program listens on 127.0.0.1:\(server.port) already. \
        To use another port, set BACKEND_PORT.

        """
    )
    await server.stop()
  }

  @Test(
    "a bad setting ends it with one line that names it",
    arguments: [
      (["BACKEND_PORT": "http"], "BACKEND_PORT is 'http'"),
      (["BACKEND_PORT": "0", "ALLOWED_ORIGINS": "*"], "ALLOWED_ORIGINS contains '*'"),
      (["BACKEND_PORT": "0", "BACKEND_DATABASE": "/dev/null/accounts.sqlite"], "The database couldn't"),
    ]
  )
  func badSetting(environment: [String: String], text: String) async throws {
    let end = try await Run(environment).end()
    #expect(end.status == 1)
    #expect(end.errors.hasPrefix("backend-server: \(text)"))
    #expect(end.errors.filter { $0 == "\n" }.count == 1)
  }
}
