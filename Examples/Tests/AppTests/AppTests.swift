import App
import Backend
import Foundation
import ServerTesting
import Testing
import WebServer

/// The app over a real connection, against a real backend.
@Suite("The app")
struct AppTests {
  private let backend: BackendServer
  private let app: App

  init() throws {
    backend = try BackendServer(
      BackendServer.Configuration(database: ":memory:") { Issue.record("The backend failed: \($0)") }
    )
    app = try App(HTTPServer.Configuration(port: 0), backend: try #require(URL(string: backend.url))) {
      Issue.record("The app failed: \($0)")
    }
  }

  private func stop() async {
    await app.stop()
    await backend.stop()
  }

  private func openSession() async throws -> String {
    let answer = try #require(try await LoopbackClient.post("{}", to: "/sessions", port: app.port))
    #expect(answer.status == 201)
    return try #require(JSONDecoder().decode([String: String].self, from: answer.body)["session"])
  }

  /// The stream of states of a session.
  private func events(of session: String) async throws -> LoopbackClient {
    let client = try LoopbackClient(port: app.port)
    try await client.send("GET /sessions/\(session)/events HTTP/1.1\r\nHost: localhost:\(app.port)\r\n\r\n")
    return client
  }

  private func perform(_ action: String, in session: String) async throws -> Answer {
    try #require(try await LoopbackClient.post(action, to: "/sessions/\(session)/actions", port: app.port))
  }

  @Test(
    "the page and its files are served, and may load nothing from elsewhere",
    arguments: [
      "/", "/page.js", "/dom.js", "/link.js", "/log.js", "/client.js", "/surfaces.js", "/faults.js", "/sign-up.js",
      "/inspector.js", "/inspection.js", "/marbles.js", "/style.css",
    ]
  )
  func page(path: String) async throws {
    let answer = try #require(try await LoopbackClient.request("GET", path, port: app.port))
    #expect(answer.status == 200)
    #expect(!answer.body.isEmpty)
    #expect(answer["Content-Security-Policy"]?.contains("default-src 'none'") == true)
    await stop()
  }

  @Test("a page gets the state at once, and again when something was typed")
  func states() async throws {
    let session = try await openSession()
    let stream = try await events(of: session)
    #expect(try await stream.receive(until: "\"revision\":").contains("event: state"))
    #expect(
      try await perform(#"{"tab":"signUp","type":"edit","field":"password","text":"abc"}"#, in: session).status == 204
    )
    _ = try await stream.receive(until: "Password must have at least 8 characters")
    await stop()
  }

  @Test("every key of a state is there, with null where there is nothing")
  func keys() async throws {
    let stream = try await events(of: try await openSession())
    let text = try await stream.receive(until: "}\n\n")
    let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("data: ") })
    let state = try #require(
      JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)) as? [String: Any]
    )
    #expect(Set(state.keys) == ["revision", "tab", "client", "screen"])
    #expect(state["tab"] as? String == "signUp")
    let screen = try #require(state["screen"] as? [String: Any])
    #expect(
      Set(screen.keys) == [
        "fields", "canSubmit", "isSubmitting", "toast", "banner", "alert", "fullScreen", "attempts", "signedUp",
      ]
    )
    #expect(screen["alert"] is NSNull)
    #expect((screen["fields"] as? [String: Any])?.count == 3)
    await stop()
  }

  @Test("what happened to the animals can be saved, and replayed on another page")
  func recording() async throws {
    try await backend.calmAnimals()
    let (first, second) = (try await openSession(), try await openSession())
    let stream = try await events(of: first)
    _ = try await perform(#"{"type":"show","tab":"animals"}"#, in: first)
    _ = try await perform(#"{"tab":"animals","type":"fetch"}"#, in: first)
    _ = try await stream.receive(until: "fetched ")

    let file = try #require(
      try await LoopbackClient.request("GET", "/sessions/\(first)/recording", port: app.port)
    )
    #expect(file.status == 200)
    let text = String(decoding: try JSONEncoder().encode(file.text), as: UTF8.self)
    let other = try await events(of: second)
    _ = try await perform(#"{"type":"show","tab":"animals"}"#, in: second)
    #expect(try await perform(#"{"tab":"animals","type":"import","recording":\#(text)}"#, in: second).status == 204)
    _ = try await other.receive(until: "fetched ")
    await stop()
  }

  @Test("what is no recording is refused with a reason")
  func noRecording() async throws {
    let answer = try await perform(
      #"{"tab":"animals","type":"import","recording":"[1]"}"#,
      in: try await openSession()
    )
    #expect(answer.status == 400)
    #expect(answer.text.contains("no session of this program"))
    await stop()
  }

  @Test("the key of the weather can be changed, and its tokens ended; clearing puts both back")
  func orders() async throws {
    let session = try await openSession()
    func token() async throws -> Int? {
      try await LoopbackClient.request("POST", "/token", port: backend.port, headers: ["X-API-Key: rebound"])?.status
    }
    #expect(try await perform(#"{"type":"order","order":"expireTokens"}"#, in: session).status == 204)
    #expect(try await token() == 201)
    #expect(try await perform(#"{"type":"order","order":"revokeKey"}"#, in: session).status == 204)
    #expect(try await token() == 401)
    #expect(try await perform(#"{"type":"clearFaults"}"#, in: session).status == 204)
    #expect(try await token() == 201)
    await stop()
  }

  @Test("two pages do not see each other's state")
  func separate() async throws {
    let (first, second) = (try await openSession(), try await openSession())
    #expect(first != second)
    let stream = try await events(of: second)
    _ = try await stream.receive(until: "\"revision\":")
    _ = try await perform(#"{"tab":"signUp","type":"edit","field":"userName","text":"first"}"#, in: first)
    _ = try await perform(#"{"tab":"signUp","type":"edit","field":"userName","text":"second"}"#, in: second)
    #expect(try await !stream.receive(until: "\"second\"").contains("\"first\""))
    await stop()
  }

  @Test(
    "what is no action is refused with a reason",
    arguments: ["{", "{}", #"{"type":"dance"}"#, #"{"tab":"signUp","type":"dance"}"#, #"{"type":"show","tab":"none"}"#]
  )
  func malformed(body: String) async throws {
    let answer = try await perform(body, in: try await openSession())
    #expect(answer.status == 400)
    #expect(answer.text.contains("reason"))
    await stop()
  }

  @Test("a closed tab frees its session, and an open one keeps it")
  func closedTab() async throws {
    let timer = ManualTimer()
    let patient = try App(
      HTTPServer.Configuration(port: 0),
      backend: try #require(URL(string: backend.url)),
      timer: timer
    ) { Issue.record("The app failed: \($0)") }
    let opened = try #require(try await LoopbackClient.post("{}", to: "/sessions", port: patient.port))
    let session = try #require(JSONDecoder().decode([String: String].self, from: opened.body)["session"])
    func edit() async throws -> Int? {
      try await LoopbackClient.post(
        #"{"tab":"signUp","type":"edit","field":"userName","text":"x"}"#,
        to: "/sessions/\(session)/actions",
        port: patient.port
      )?.status
    }
    do {
      let stream = try LoopbackClient(port: patient.port)
      try await stream.send("GET /sessions/\(session)/events HTTP/1.1\r\nHost: localhost:\(patient.port)\r\n\r\n")
      _ = try await stream.receive(until: "\"revision\":")
      timer.advance(by: .seconds(600))
      #expect(try await edit() == 204)
    }
    // The stream is closed with the client above; the app notices it when it writes, which each edit makes it do.
    while try await edit() == 204 { timer.advance(by: .seconds(60)) }
    #expect(try await edit() == 404)
    let counts = try #require(try await LoopbackClient.request("GET", "/metrics", port: patient.port)).text
    #expect(counts.contains("app_pages_opened_total 1\n"))
    #expect(counts.contains("app_pages_open 0.0\n"))
    await patient.stop()
    await stop()
  }

  @Test("a session that is not there is a 404 that says what to do")
  func unknownSession() async throws {
    let answer = try await perform(#"{"tab":"signUp","type":"submit"}"#, in: "nobody")
    #expect(answer.status == 404)
    #expect(answer.text.contains("Reload the page"))
    await stop()
  }

  @Test("faults reach the backend, and go when they are cleared")
  func faults() async throws {
    let session = try await openSession()
    let fault = #"{"type":"fault","path":"/health","fault":"status","status":503,"retryAfter":null,"times":null}"#
    #expect(try await perform(fault, in: session).status == 204)
    #expect(try await LoopbackClient.request("GET", "/health", port: backend.port)?.status == 503)
    #expect(try await perform(#"{"type":"clearFaults"}"#, in: session).status == 204)
    #expect(try await LoopbackClient.request("GET", "/health", port: backend.port)?.status == 200)
    await stop()
  }

  @Test("a fault that the backend refuses is told in its words")
  func refusedFault() async throws {
    let fault = #"{"type":"fault","path":"/health","fault":"status","status":200,"retryAfter":null,"times":null}"#
    let answer = try await perform(fault, in: try await openSession())
    #expect(answer.status == 422)
    #expect(answer.text.contains("The backend refused this fault: The fault 'status' needs"))
    await stop()
  }

  @Test("without a backend the app says so")
  func noBackend() async throws {
    await backend.stop()
    let answer = try await perform(#"{"type":"clearFaults"}"#, in: try await openSession())
    #expect(answer.status == 502)
    #expect(answer.text.contains("backend"))
    await app.stop()
  }

  // MARK: Metrics

  private func metrics(_ headers: String...) async throws -> Answer {
    try #require(try await LoopbackClient.request("GET", "/metrics", port: app.port, headers: headers))
  }

  /// The series of a page of metrics, each with its number.
  private func samples() async throws -> [String: String] {
    let lines = try await metrics().text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    return Dictionary(
      uniqueKeysWithValues: try lines.map { line in
        let space = try #require(line.lastIndex(of: " "))
        return (String(line[..<space]), String(line[line.index(after: space)...]))
      }
    )
  }

  @Test("the metrics are OpenMetrics that nobody keeps, and only to be read")
  func metricsRoute() async throws {
    let answer = try await metrics()
    #expect(answer.status == 200)
    #expect(answer["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(answer["Cache-Control"] == "no-store")
    #expect(answer["X-Content-Type-Options"] == "nosniff")
    #expect(answer.text.hasSuffix("# EOF\n"))
    let head = try #require(try await LoopbackClient.request("HEAD", "/metrics", port: app.port))
    #expect(head.status == 200)
    #expect(head.body.isEmpty)
    let posted = try #require(try await LoopbackClient.post("{}", to: "/metrics", port: app.port))
    #expect(posted.status == 405)
    #expect(posted["Allow"] == "GET, HEAD, OPTIONS")
    await stop()
  }

  @Test("pages of other sites can't read the metrics")
  func foreignMetrics() async throws {
    #expect(try await metrics("Host: elsewhere.example:\(app.port)").status == 403)
    let answer = try await metrics("Origin: http://elsewhere.example")
    #expect(answer.status == 403)
    #expect(answer["Access-Control-Allow-Origin"] == nil)
    await stop()
  }

  @Test("a backend that fails twice and then answers gives exactly these counts, to the page and to a collector")
  func failingBackend() async throws {
    try await backend.calmAnimals()
    let session = try await openSession()
    let fault = #"{"type":"fault","path":"/animals/random","fault":"status","status":503,"retryAfter":null,"times":2}"#
    _ = try await perform(fault, in: session)
    let stream = try await events(of: session)
    _ = try await perform(#"{"type":"show","tab":"animals"}"#, in: session)
    for (actions, answers) in [(2, "503 × 1"), (4, "503 × 2"), (6, "200 × 1, 503 × 2")] {
      _ = try await perform(#"{"tab":"animals","type":"fetch"}"#, in: session)
      // The action for the answer is counted last, and no other number is the same.
      #expect(try await stream.receive(until: #""value":"\#(actions)""#).contains(answers))
    }
    let samples = try await samples()
    let operation = #"operation="RandomAnimal""#
    #expect(samples["http_client_attempts_total{\(operation),resend=\"false\"}"] == "3")
    for (outcome, count) in [("503", "2"), ("200", "1")] {
      #expect(samples["http_client_attempt_duration_seconds_count{\(operation),outcome=\"\(outcome)\"}"] == count)
    }
    for (action, count) in [("fetch", "3"), ("failed", "2"), ("fetched", "1")] {
      #expect(samples["app_dispatches_total{app=\"animals\",action=\"\(action)\"}"] == count)
    }
    #expect(samples["app_pages_opened_total"] == "1")
    #expect(samples["app_pages_open"] == "1.0")
    #expect(samples["rebound_budget_available{source=\"weather\"}"] == "100")
    #expect(samples["rebound_metrics_refused_total"] == "0")
    await stop()
  }

  @Test("nothing that a person types becomes a label, and more people make no more series")
  func labels() async throws {
    func use(city: String) async throws {
      let session = try await openSession()
      let stream = try await events(of: session)
      _ = try await perform(#"{"type":"show","tab":"weather"}"#, in: session)
      for action in [#""type":"edit","text":"\#(city)""#, #""type":"search""#] {
        #expect(try await perform("{\"tab\":\"weather\",\(action)}", in: session).status == 204)
      }
      _ = try await stream.receive(until: "City Name is invalid")
    }
    try await use(city: "Atlantis 0")
    let before = try await samples()
    for number in 1...8 { try await use(city: "Atlantis \(number)") }
    let after = try await samples()
    #expect(Set(after.keys) == Set(before.keys))
    #expect(after["http_client_attempts_total{operation=\"CurrentWeather\",resend=\"false\"}"] == "9")
    #expect(!after.keys.contains { $0.contains("Atlantis") })
    await stop()
  }
}
