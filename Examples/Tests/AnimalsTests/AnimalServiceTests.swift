import Backend
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTelemetry
import ServerTesting
import Testing

@testable import Animals

@Suite("AnimalService")
struct AnimalServiceTests {
  /// What a request comes to, against the backend with such failures.
  private func outcome(
    _ backend: BackendServer,
    metrics: MetricsTable? = nil
  ) async throws -> Result<Animal, AnimalFailure> {
    let url = try #require(URL(string: backend.url))
    return try await outcome(AnimalService(baseURL: url, transport: URLSessionTransport(), metrics: metrics))
  }

  private func outcome(_ service: AnimalService) async throws -> Result<Animal, AnimalFailure> {
    var results = service.randomAnimal().asResult().values.makeAsyncIterator()
    return try #require(await results.next())
  }

  private func withZoo(_ order: String, _ body: (BackendServer) async throws -> Void) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    _ = try await LoopbackClient.post(order, to: "/control/animals", port: backend.port)
    do {
      try await body(backend)
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  @Test("an animal comes with its fact")
  func success() async throws {
    try await withZoo(#"{"seed":1,"failures":0,"longestDelayMilliseconds":0}"#) { backend in
      let animal = try (try await outcome(backend)).get()
      #expect(!animal.name.isEmpty && !animal.fact.isEmpty)
    }
  }

  @Test("both ways of failing are told apart, also after an animal that came over the same transport")
  func failures() async throws {
    try await withZoo(#"{"seed":1,"failures":0,"longestDelayMilliseconds":0}"#) { backend in
      let service = AnimalService(baseURL: try #require(URL(string: backend.url)), transport: URLSessionTransport())
      _ = try await outcome(service).get()
      _ = try await LoopbackClient.post(
        #"{"seed":6,"failures":1,"longestDelayMilliseconds":0}"#,
        to: "/control/animals",
        port: backend.port
      )
      let outcomes = [try await outcome(service), try await outcome(service)]
      #expect(outcomes == [.failure(.network), .failure(.unknown(reason: "The animals got loose"))])
    }
  }

  @Test("of a connection that breaks once the app learns once, also after an animal that came over the same transport")
  func dropped() async throws {
    try await withZoo(#"{"seed":1,"failures":0,"longestDelayMilliseconds":0}"#) { backend in
      let service = AnimalService(baseURL: try #require(URL(string: backend.url)), transport: URLSessionTransport())
      _ = try await outcome(service).get()
      let fault = #"{"path":"/animals/random","fault":"drop","times":1}"#
      _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
      #expect(try await outcome(service) == .failure(.network))
      _ = try await outcome(service).get()
    }
  }

  @Test("an answer that is no animal is a failure with words")
  func unreadable() async throws {
    try await withZoo(#"{"seed":1,"failures":0,"longestDelayMilliseconds":0}"#) { backend in
      let fault = #"{"path":"/animals/random","fault":"garbage"}"#
      _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
      #expect(try await outcome(backend) == .failure(.unknown(reason: "The zoo's answer can't be read")))
    }
  }

  @Test(
    "an answer that is none has a reason, if only the server's",
    arguments: [
      (ScriptedTransport.Step.captivePortal, "The zoo's answer can't be read"),
      (.ok(""), "The zoo's answer can't be read"),
      (.status(404, #"{"reason":"There is no zoo"}"#), "There is no zoo"), (.status(503), nil),
    ] as [(ScriptedTransport.Step, String?)]
  )
  private func reasons(step: ScriptedTransport.Step, reason: String?) async throws {
    let url = try #require(URL(string: "http://zoo.test"))
    let service = AnimalService(baseURL: url, transport: ScriptedTransport([step]))
    #expect(try await outcome(service) == .failure(.unknown(reason: reason)))
  }

  @Test("nothing is waited for that gives no sign of life for 15 seconds")
  func limits() async throws {
    let transport = ScriptedTransport([.timeout])
    let service = AnimalService(baseURL: try #require(URL(string: "http://zoo.test")), transport: transport)
    #expect(try await outcome(service) == .failure(.network))
    #expect(transport.calls.map(\.request.limits.idle) == [.seconds(15)])
  }

  @Test("answers are counted by status, whatever the animal")
  func metrics() async throws {
    let metrics = MetricsTable()
    try await withZoo(#"{"seed":1,"failures":0,"longestDelayMilliseconds":0}"#) { backend in
      for _ in 1...4 { _ = try await outcome(backend, metrics: metrics).get() }
      for fault in [#""status","status":503"#, #""drop""#, #""truncate""#] {
        _ = try await LoopbackClient.post(
          #"{"path":"/animals/random","fault":\#(fault),"times":1}"#,
          to: "/control/faults",
          port: backend.port
        )
        _ = try await outcome(backend, metrics: metrics)
      }
    }
    let operation = Metric.Label("operation", "RandomAnimal")
    #expect(metrics.snapshot.counters == [Metric("http_client_attempts", operation, .init("resend", "false")): 7])
    let attempts = metrics.snapshot.histograms.filter { $0.key.name == "http_client_attempt_duration_seconds" }
    let outcomes = attempts.map { ($0.key.labels.last?.value, $0.value.count) }
    #expect(Dictionary(uniqueKeysWithValues: outcomes) == ["200": 4, "503": 1, "reset": 1, "truncated": 1])
  }
}
