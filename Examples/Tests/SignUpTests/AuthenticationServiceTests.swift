import Backend
import Combine
import Foundation
import FoundationNetworking
import Rebound
import ServerTesting
import Testing

@testable import SignUp

/// The service over a real connection, against a real backend.
@Suite("AuthenticationService")
struct AuthenticationServiceTests {
  private func withService(
    metrics: MetricsTable,
    _ body: (AuthenticationService, BackendServer) async throws -> Void
  ) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let service = AuthenticationService(
      baseURL: try #require(URL(string: backend.url)),
      session: session,
      metrics: metrics
    )
    do {
      try await body(service, backend)
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  private func outcome<Output>(_ publisher: AnyPublisher<Output, APIError>) async throws -> Result<Output, APIError> {
    var results = publisher.asResult().values.makeAsyncIterator()
    return try #require(await results.next())
  }

  private func attempts(_ metrics: MetricsTable, _ operation: String, _ outcome: String) -> Int? {
    metrics.snapshot.histograms[
      Metric("http_client_attempt_duration_seconds", .init("operation", operation), .init("outcome", outcome))
    ]?.count
  }

  @Test("answers are counted by operation and status, a second account of a name with its refusal")
  func counts() async throws {
    let metrics = MetricsTable()
    try await withService(metrics: metrics) { service, backend in
      #expect(try await outcome(service.isAvailable(userName: "somebody")).get())
      for key in ["first", "second"] {
        _ = try await outcome(
          service.signUp(userName: "somebody", password: "correct horse battery 7!", idempotencyKey: key)
        )
      }
      _ = try await LoopbackClient.post(
        #"{"path":"*","fault":"status","status":503}"#,
        to: "/control/faults",
        port: backend.port
      )
      _ = try await outcome(service.isAvailable(userName: "somebody"))
    }
    #expect(attempts(metrics, "CheckUserName", "200") == 1)
    #expect(attempts(metrics, "CheckUserName", "503") == 1)
    #expect(attempts(metrics, "SignUp", "201") == 1)
    #expect(attempts(metrics, "SignUp", "409") == 1)
    #expect(metrics.snapshot.histograms.count == 4)
  }

  @Test("no name is a label, however many are asked for")
  func labels() async throws {
    let metrics = MetricsTable()
    try await withService(metrics: metrics) { service, _ in
      for number in 1...10 { _ = try await outcome(service.isAvailable(userName: "somebody\(number)")).get() }
    }
    #expect(attempts(metrics, "CheckUserName", "200") == 10)
    #expect(metrics.snapshot.counters.count == 1)
    #expect(metrics.snapshot.histograms.count == 1)
    #expect(!metrics.openMetrics().contains("somebody"))
  }
}
