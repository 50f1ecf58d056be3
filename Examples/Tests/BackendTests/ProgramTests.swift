import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("backend-server")
struct ProgramTests {
  /// The program, running.
  private func run(_ environment: [String: String]) throws -> ChildProcess {
    // The test's own program lies beside it.
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try ChildProcess(folder.appending(path: "backend-server").path, environment: environment)
  }

  @Test("it says in one line where it listens, and ends cleanly when asked to", arguments: [SIGINT, SIGTERM])
  func lifecycle(signal: Int32) async throws {
    let program = try run(["BACKEND_PORT": "0", "BACKEND_DATABASE": ":memory:"])
    let line = try await program.firstOutput()
    let match = try #require(line.wholeMatch(of: /Backend listening on http:\/\/127\.0\.0\.1:(\d+)\n/))
    let port = try #require(UInt16(match.1))
    let answer = try await LoopbackClient.request("GET", "/health", port: port)
    #expect(answer?.status == 200)
    kill(program.id, signal)
    let end = try await program.end()
    #expect(end.status == 0)
    #expect(end.errors.isEmpty)
  }

  @Test("a taken port ends it with one line that says what to do")
  func takenPort() async throws {
    let server = try HTTPServer(.init()) { _ in Response() }
    let end = try await run(["BACKEND_PORT": "\(server.port)", "BACKEND_DATABASE": ":memory:"]).end()
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
    let end = try await run(environment).end()
    #expect(end.status == 1)
    #expect(end.errors.hasPrefix("backend-server: \(text)"))
    #expect(end.errors.filter { $0 == "\n" }.count == 1)
  }
}
