import Backend
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTelemetry
import ServerTesting
import Testing

@testable import SignUp

/// The service against a real backend, over a real connection, and against answers that the backend does not give.
@Suite("AuthenticationService")
struct AuthenticationServiceTests {
  private func withService(
    metrics: MetricsTable,
    _ body: (AuthenticationService, BackendServer) async throws -> Void
  ) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    let service = AuthenticationService(
      baseURL: try #require(URL(string: backend.url)),
      transport: URLSessionTransport(),
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
    // The calls have as many.
    #expect(metrics.snapshot.histograms.count == 8)
  }

  @Test("no name is a label, however many are asked for")
  func labels() async throws {
    let metrics = MetricsTable()
    try await withService(metrics: metrics) { service, _ in
      for number in 1...10 { _ = try await outcome(service.isAvailable(userName: "somebody\(number)")).get() }
    }
    #expect(attempts(metrics, "CheckUserName", "200") == 10)
    #expect(metrics.snapshot.counters.count == 1)
    #expect(metrics.snapshot.histograms.count == 2)
    #expect(!metrics.openMetrics().contains("somebody"))
  }

  @Test("a request that is dropped fails once, also after one that was answered", arguments: [false, true])
  func dropped(isSignUp: Bool) async throws {
    try await withService(metrics: MetricsTable()) { service, backend in
      func ask(_ number: Int) async throws -> APIError? {
        let name = "somebody\(number)"
        let result =
          isSignUp
          ? try await outcome(service.signUp(userName: name, password: "correct horse", idempotencyKey: name)).map {
            _ in
          }
          : try await outcome(service.isAvailable(userName: name)).map { _ in }
        if case .failure(let error) = result { return error } else { return nil }
      }
      // The connection is there.
      _ = try await outcome(service.isAvailable(userName: "somebody")).get()
      let path = isSignUp ? "/signUp" : "/isUserNameAvailable"
      let fault = #"{"path":"\#(path)","fault":"drop","times":1}"#
      _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
      #expect(try await ask(1)?.outcome == "no answer (reset)")
      // Whether there is time for a password's hash, too, is another matter.
      #expect(try await ask(2)?.outcome != "no answer (reset)")
    }
  }

  // MARK: What answers mean

  private func check(_ step: ScriptedTransport.Step) async throws -> Result<Bool, APIError> {
    let url = try #require(URL(string: "http://accounts.test"))
    let service = AuthenticationService(baseURL: url, transport: ScriptedTransport([step]))
    return try await outcome(service.isAvailable(userName: "somebody"))
  }

  private static let reason = #"{"reason":"No"}"#

  @Test(
    "each answer, and each way to get none, is one kind of error",
    arguments: [
      (ScriptedTransport.Step.status(400, reason), "refused: No"), (.status(409, reason), "refused: No"),
      (.status(413), "refused: The server refused this input."), (.status(415, reason), "refused: No"),
      (.status(422, reason), "refused: No"), (.status(404, reason), "404 No"), (.status(503), "503 Server error"),
      (.ok("{}"), "200 with an unreadable answer"), (.ok(""), "200 with an unreadable answer"),
      (.captivePortal, "200 with a page of the network's own"), (.status(511), "200 with a page of the network's own"),
      (.offline, "no answer (offline)"), (.timeout, "no answer (timeout)"), (.refused, "no answer (connect)"),
      (.failure(.truncated), "no answer (truncated)"), (.failure(.protocol), "not an answer"),
    ]
  )
  private func errors(step: ScriptedTransport.Step, words: String) async throws {
    let outcome = try await check(step)
    guard case .failure(let error) = outcome else {
      Issue.record("no error: \(outcome)")
      return
    }
    #expect(error.outcome == words)
    #expect(error.isOffline == words.hasPrefix("no answer"))
  }

  @Test("a server that says when to come back is a transient error, whatever its status")
  func retryAfter() async throws {
    guard case .failure(let error) = try await check(.status(500, retryAfter: 7)) else {
      Issue.record("no error")
      return
    }
    #expect(error.retryAfter == .seconds(7))
    #expect(error.isTransient)
  }

  @Test("a plus sign arrives as one, and what has no address is not sent")
  func requests() async throws {
    let transport = ScriptedTransport([.ok(#"{"isAvailable":true,"userName":"a+b"}"#)])
    let service = AuthenticationService(
      baseURL: try #require(URL(string: "http://accounts.test")),
      transport: transport
    )
    #expect(try await outcome(service.isAvailable(userName: "a+b c")).get())
    let request = try #require(transport.calls.first?.request)
    #expect(request.url.absoluteString == "http://accounts.test/isUserNameAvailable?userName=a%2Bb%20c")
    #expect(request.limits.idle == .seconds(15))
    let nowhere = AuthenticationService(baseURL: try #require(URL(string: "accounts")), transport: transport)
    guard case .failure(.invalidRequest) = try await outcome(nowhere.isAvailable(userName: "a")) else {
      Issue.record("sent somewhere")
      return
    }
    #expect(transport.count == 1)
  }

  @Test("a sign-up is JSON with the key of its wish")
  func signUp() async throws {
    let transport = ScriptedTransport([.status(201, #"{"userName":"a"}"#)])
    let service = AuthenticationService(
      baseURL: try #require(URL(string: "http://accounts.test")),
      transport: transport
    )
    let account = try await outcome(service.signUp(userName: "a", password: "b", idempotencyKey: "c")).get()
    #expect(account == Account(userName: "a"))
    let call = try #require(transport.calls.first)
    #expect(call.request.method == .post)
    #expect(call.request.headers["Idempotency-Key"] == "c")
    #expect(call.request.headers["Content-Type"] == "application/json")
    let body = try #require(call.body)
    #expect(try JSONDecoder().decode([String: String].self, from: body) == ["userName": "a", "password": "b"])
  }
}
