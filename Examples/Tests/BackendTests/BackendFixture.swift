import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

extension BackendServer.Configuration {
  /// A backend for tests: a free port, quick hashes, and failures of its own are failures of the test.
  static func forTests(database: String = ":memory:") -> BackendServer.Configuration {
    var configuration = BackendServer.Configuration(database: database) { Issue.record("the backend failed: \($0)") }
    configuration.passwordCost = .minimal
    return configuration
  }

  /// The same on a timer that schedules nothing but answers that are late.
  static func forTests(on timer: ManualTimer) -> BackendServer.Configuration {
    var configuration = forTests()
    configuration.server.timer = timer
    configuration.server.heartbeat = nil
    configuration.server.headTimeout = nil
    configuration.server.bodyTimeout = nil
    return configuration
  }
}

/// Runs `body` with a backend, and stops it.
func withBackend(
  _ configuration: BackendServer.Configuration = .forTests(),
  _ body: (BackendServer) async throws -> Void
) async throws {
  let backend = try BackendServer(configuration)
  do {
    try await body(backend)
  } catch {
    await backend.stop()
    throw error
  }
  await backend.stop()
}

extension BackendServer {
  func get(_ target: String, headers: [String] = []) async throws -> Answer? {
    try await LoopbackClient.request("GET", target, port: port, headers: headers)
  }

  func post(_ target: String, _ json: String, headers: [String] = []) async throws -> Answer? {
    try await LoopbackClient.post(json, to: target, port: port, headers: headers)
  }

  func delete(_ target: String) async throws -> Answer? {
    try await LoopbackClient.request("DELETE", target, port: port)
  }

  func signUp(_ name: String, _ password: String = "correct horse", key: String? = nil) async throws -> Answer? {
    try await post(
      "/signUp",
      #"{"userName":"\#(name)","password":"\#(password)"}"#,
      headers: key.map { ["Idempotency-Key: \($0)"] } ?? []
    )
  }
}

/// The body of an error.
func errorBody(_ reason: String) -> String {
  #"{"error":true,"reason":"\#(reason)"}"#
}
