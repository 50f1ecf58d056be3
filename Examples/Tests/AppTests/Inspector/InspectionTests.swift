import App
import Backend
import Foundation
import ServerTesting
import Testing
import WebServer

/// What a page gets over a real connection while its inspector is open.
@Suite("Inspection")
struct InspectionTests {
  private let backend: BackendServer
  private let app: App
  private let timer = ManualTimer()

  init() throws {
    backend = try BackendServer(
      BackendServer.Configuration(database: ":memory:") { Issue.record("The backend failed: \($0)") }
    )
    app = try App(
      HTTPServer.Configuration(port: 0),
      backend: try #require(URL(string: backend.url)),
      timer: timer
    ) { Issue.record("The app failed: \($0)") }
  }

  private func stop() async {
    await app.stop()
    await backend.stop()
  }

  private func openSession() async throws -> String {
    let answer = try #require(try await LoopbackClient.post("{}", to: "/sessions", port: app.port))
    return try #require(JSONDecoder().decode([String: String].self, from: answer.body)["session"])
  }

  private func events(of session: String) async throws -> LoopbackClient {
    let client = try LoopbackClient(port: app.port)
    try await client.send("GET /sessions/\(session)/events HTTP/1.1\r\nHost: localhost:\(app.port)\r\n\r\n")
    _ = try await client.receive(until: "\"revision\":")
    return client
  }

  private func perform(_ actions: String..., in session: String) async throws {
    for action in actions {
      let answer = try await LoopbackClient.post(action, to: "/sessions/\(session)/actions", port: app.port)
      #expect(answer?.status == 204)
    }
  }

  private let open = #"{"type":"inspect","isOpen":true}"#
  private let close = #"{"type":"inspect","isOpen":false}"#
  private let showWeather = #"{"type":"show","tab":"weather"}"#

  private func search(_ city: String) -> [String] {
    [#"{"tab":"weather","type":"edit","text":"\#(city)"}"#, #"{"tab":"weather","type":"search"}"#]
  }

  @Test("an open inspector gets the stages and the gauges at once, and each turn of a request as it comes")
  func opened() async throws {
    let session = try await openSession()
    let stream = try await events(of: session)
    try await perform(showWeather, open, in: session)
    let first = try await stream.receive(until: #""policy":"rate_limiter""#)
    #expect(first.contains("event: inspect"))
    #expect(first.contains(#""type":"pipeline","stages":{"fallback":"Saved copy","retry":"Retry""#))
    #expect(first.contains(#""type":"gauge","source":"weather","policy":"circuit_breaker""#))
    for action in search("Oslo") { try await perform(action, in: session) }
    let lines = try await stream.receive(until: #""event":"finished""#)
    #expect(
      lines.contains(#""type":"request","request":1,"event":"began","attempt":0,"name":"GET /weather?city=Oslo""#)
    )
    #expect(lines.contains(#""event":"demand","attempt":"#))
    #expect(lines.contains(#""decision":"refresh_begins""#))
    #expect(lines.contains(#""operation":"CurrentWeather""#))
    #expect(!lines.contains("Bearer"))
    await stop()
  }

  @Test("a closed inspector is sent nothing, before it is opened and after")
  func closed() async throws {
    let session = try await openSession()
    let stream = try await events(of: session)
    try await perform(showWeather, in: session)
    for action in search("Oslo") { try await perform(action, in: session) }
    #expect(try await !stream.receive(until: #""city":"Oslo""#).contains("event: inspect"))
    try await perform(open, in: session)
    _ = try await stream.receive(until: #""policy":"rate_limiter""#)
    try await perform(close, in: session)
    for action in search("Rome") { try await perform(action, in: session) }
    let rest = try await stream.receive(until: #""city":"Rome""#)
    #expect(!rest.contains(#""type":"request""#))
    #expect(!rest.contains(#""type":"http""#))
    await stop()
  }

  @Test("what happens to the animals is written down: each action, who sent it, and what it changed")
  func actions() async throws {
    try await backend.calmAnimals()
    let session = try await openSession()
    let stream = try await events(of: session)
    try await perform(
      #"{"type":"show","tab":"animals"}"#,
      open,
      #"{"tab":"animals","type":"fetch"}"#,
      in: session
    )
    let lines = try await stream.receive(until: #""type":"action","text":"← fetched(Animals.Animal(name: "#)
    let fetch = #""type":"action","text":"→ fetch\n  animal.phase: idle → loading(previous: nil, attempt: 1)\n"#
    #expect(lines.contains(fetch))
    await stop()
  }

  @Test("a gauge that another page has changed is told within a second")
  func otherPages() async throws {
    let (watching, failing) = (try await openSession(), try await openSession())
    let stream = try await events(of: watching)
    try await perform(showWeather, open, in: watching)
    _ = try await stream.receive(until: #""policy":"rate_limiter""#)
    let fault = #"{"path":"/weather","fault":"status","status":503,"times":1}"#
    _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
    let other = try await events(of: failing)
    try await perform(showWeather, in: failing)
    for action in search("Oslo") { try await perform(action, in: failing) }
    _ = try await other.receive(until: "retrying in 1.0 s")
    timer.advance(by: .seconds(1))
    _ = try await stream.receive(until: #""text":"99 left, 1 granted, 0 denied""#)
    await stop()
  }

  @Test("a failed request is saved as a file of a test and its archive; what did not fail is refused with the reason")
  func saved() async throws {
    let session = try await openSession()
    let stream = try await events(of: session)
    try await perform(showWeather, open, in: session)
    let fault = #"{"path":"/weather","fault":"status","status":403,"times":1}"#
    _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
    for action in search("Oslo") { try await perform(action, in: session) }
    let lines = try await stream.receive(until: #""event":"failed","attempt":1"#)
    let call = try #require(lines.firstMatch(of: /"call":"([0-9a-f]{16})","operation":"CurrentWeather"/)).1
    let path = "/sessions/\(session)/runs/1/test"
    let answer = try #require(
      try await LoopbackClient.request("GET", "\(path)?app=weather&call=\(call)", port: app.port)
    )
    #expect(answer.status == 200)
    #expect(answer["Content-Disposition"] == #"attachment; filename="recorded-run.tar""#)
    #expect(answer.text.contains("weatherOfOslo.har"))
    #expect(answer.text.contains(#"@Test("weather of Oslo") func weatherOfOslo() throws"#))
    for (query, status) in [("?app=weather", 409), ("?app=animals&call=\(call)", 404), ("?call=\(call)", 400)] {
      let refused = try await LoopbackClient.request("GET", path + query, port: app.port)
      #expect(refused?.status == status)
    }
    let unknown = try await LoopbackClient.request(
      "GET",
      "/sessions/\(session)/runs/9/test?app=weather&call=\(call)",
      port: app.port
    )
    #expect(unknown?.status == 404)
    await stop()
  }

  @Test("a sign-up that failed is saved without the password, which no line has either")
  func savedSignUp() async throws {
    let session = try await openSession()
    let stream = try await events(of: session)
    try await perform(open, in: session)
    let typed = [("userName", "somebody"), ("password", "correct horse"), ("passwordConfirmation", "correct horse")]
    for (field, text) in typed {
      try await perform(#"{"tab":"signUp","type":"edit","field":"\#(field)","text":"\#(text)"}"#, in: session)
    }
    var lines = try await stream.receive(until: #""canSubmit":true"#)
    let fault = #"{"path":"/signUp","fault":"status","status":503,"times":1}"#
    _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
    try await perform(#"{"tab":"signUp","type":"submit"}"#, in: session)
    lines += try await stream.receive(until: #""request":2,"event":"failed""#)
    let call = try #require(lines.firstMatch(of: /"call":"([0-9a-f]{16})","operation":"SignUp"/)).1
    let path = "/sessions/\(session)/runs/2/test?app=signUp&call=\(call)"
    let answer = try #require(try await LoopbackClient.request("GET", path, port: app.port))
    #expect(answer.status == 200)
    #expect(answer.text.contains(#"service.signUp(userName: "somebody", password: "…", idempotencyKey: ""#))
    let told = lines.split(separator: "\n").filter { $0.contains(#""type":"#) }.joined()
    for text in [answer.text, told] { #expect(!text.contains("correct horse")) }
    await stop()
  }

  @Test("who signs up another person goes on with the numbers of requests")
  func signUpAnother() async throws {
    let session = try await openSession()
    let stream = try await events(of: session)
    try await perform(open, in: session)
    for field in ["userName", "password", "passwordConfirmation"] {
      try await perform(#"{"tab":"signUp","type":"edit","field":"\#(field)","text":"battery staple 7!"}"#, in: session)
    }
    _ = try await stream.receive(until: #""canSubmit":true"#)
    try await perform(#"{"tab":"signUp","type":"submit"}"#, in: session)
    _ = try await stream.receive(until: #""signedUp":{"#)
    try await perform(
      #"{"tab":"signUp","type":"press","surface":"signedUp","id":"","button":""}"#,
      #"{"tab":"signUp","type":"edit","field":"userName","text":"somebody"}"#,
      in: session
    )
    _ = try await stream.receive(until: #""type":"request","request":3,"event":"began""#)
    await stop()
  }
}
