import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("ControlService")
struct ControlServiceTests {
  private let target = "/isUserNameAvailable?userName=someone"
  private let realAnswer = #"{"isAvailable":true,"userName":"someone"}"#

  @Test("an error on command has its status, reason and Retry-After")
  func status() async throws {
    try await withBackend { backend in
      _ = try await backend.post(
        "/control/faults",
        #"{"path":"/isUserNameAvailable","fault":"status","status":503,"reason":"Busy","retryAfter":"5"}"#
      )
      let answer = try await backend.get(target)
      #expect(answer?.status == 503)
      #expect(answer?["Retry-After"] == "5")
      #expect(answer?.text == errorBody("Busy"))
      let other = try await backend.get("/health")
      #expect(other?.status == 200)
    }
  }

  @Test("an error on command without a reason has one all the same, and no Retry-After")
  func plainStatus() async throws {
    try await withBackend { backend in
      _ = try await backend.post("/control/faults", #"{"path":"*","fault":"status","status":404}"#)
      let answer = try await backend.get(target)
      #expect(answer?.status == 404)
      #expect(answer?.text == errorBody("Failed on command"))
      #expect(answer?["Retry-After"] == nil)
    }
  }

  @Test("a dropped request gets no answer, and the service doesn't see it")
  func drop() async throws {
    try await withBackend { backend in
      _ = try await backend.post("/control/faults", #"{"path":"/signUp","fault":"drop","times":1}"#)
      let dropped = try await backend.signUp("sjefke")
      #expect(dropped == nil)
      let answer = try await backend.signUp("sjefke")
      #expect(answer?.status == 201)
    }
  }

  @Test("a truncated answer is half of the real one, and the service has done its work")
  func truncate() async throws {
    try await withBackend { backend in
      _ = try await backend.post("/control/faults", #"{"path":"*","fault":"truncate","times":2}"#)
      let answer = try await backend.get(target)
      #expect(answer?["Content-Length"] == "\(realAnswer.utf8.count)")
      #expect(answer?.text == String(realAnswer.prefix(realAnswer.count / 2)))

      _ = try await backend.signUp("sjefke", key: "k1")
      let replayed = try await backend.signUp("sjefke", key: "k1")
      #expect(replayed?.status == 201)
      let again = try await backend.signUp("sjefke", key: "k2")
      #expect(again?.status == 409)
    }
  }

  @Test("garbage calls itself JSON and isn't")
  func garbage() async throws {
    try await withBackend { backend in
      _ = try await backend.post("/control/faults", #"{"path":"*","fault":"garbage"}"#)
      let answer = try await backend.get(target)
      #expect(answer?.status == 200)
      #expect(answer?["Content-Type"] == "application/json")
      let body = try #require(answer?.body)
      #expect(throws: (any Error).self) { try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed) }
    }
  }

  @Test("a captive portal answers with its page")
  func captivePortal() async throws {
    try await withBackend { backend in
      _ = try await backend.post("/control/faults", #"{"path":"*","fault":"captivePortal"}"#)
      let answer = try await backend.get("/anything/at/all")
      #expect(answer?.status == 200)
      #expect(answer?["Content-Type"] == "text/html; charset=utf-8")
      #expect(answer?.text.hasPrefix("<!DOCTYPE html>") == true)
    }
  }

  @Test("latency delays any answer, and the control routes stay quick")
  func latency() async throws {
    let timer = ManualTimer()
    try await withBackend(.forTests(on: timer)) { backend in
      for (fault, body) in [("none", realAnswer), (#"status","status":503,"reason":"Busy"#, errorBody("Busy"))] {
        _ = try await backend.post(
          "/control/faults",
          #"{"path":"*","latencyMilliseconds":800,"fault":"\#(fault)"}"#
        )
        let client = try LoopbackClient(port: backend.port)
        try await client.send(
          "GET \(target) HTTP/1.1\r\nHost: localhost:\(backend.port)\r\nConnection: close\r\n\r\n"
        )
        try await timer.waitForWork()
        timer.advance(by: .milliseconds(799))
        let control = try await backend.get("/control/faults")
        #expect(control?.status == 200)
        #expect(!client.isReadable)
        timer.advance(by: .milliseconds(1))
        #expect(Answer(try await client.receiveAll())?.text == body)
      }
    }
  }

  @Test("a browser's question whether it may send a request meets no fault, and leaves it to the request")
  func preflight() async throws {
    var configuration = BackendServer.Configuration.forTests()
    configuration.server.allowedOrigins = ["https://app.example"]
    try await withBackend(configuration) { backend in
      _ = try await backend.post("/control/faults", #"{"path":"/signUp","fault":"status","status":503,"times":1}"#)
      let question = try await LoopbackClient.request(
        "OPTIONS",
        "/signUp",
        port: backend.port,
        headers: ["Origin: https://app.example", "Access-Control-Request-Method: POST"]
      )
      #expect(question?.status == 204)
      #expect(question?["Access-Control-Allow-Methods"] == "OPTIONS, POST")
      let answer = try await backend.signUp("sjefke")
      #expect(answer?.status == 503)
    }
  }

  @Test("rules are listed with what is left of them and what was served, and can be deleted")
  func listed() async throws {
    try await withBackend { backend in
      let made = try await backend.post("/control/faults", #"{"path":"/health","fault":"drop","times":2}"#)
      #expect(
        made?.text
          == #"{"rules":[{"fault":"drop","latencyMilliseconds":0,"path":"/health","remaining":2,"served":0}]}"#
      )
      _ = try await backend.get("/health")
      let listed = try await backend.get("/control/faults")
      #expect(
        listed?.text
          == #"{"rules":[{"fault":"drop","latencyMilliseconds":0,"path":"/health","remaining":1,"served":1}]}"#
      )
      let deleted = try await backend.delete("/control/faults")
      #expect(deleted?.text == #"{"rules":[]}"#)
      let health = try await backend.get("/health")
      #expect(health?.status == 200)
    }
  }

  @Test("a bad rule is refused with the reason, and changes nothing")
  func badRule() async throws {
    try await withBackend { backend in
      let refused = try await backend.post("/control/faults", #"{"path":"/control/reset","fault":"drop"}"#)
      #expect(refused?.status == 400)
      #expect(refused?.text == errorBody("Control routes never fail on command"))
      let listed = try await backend.get("/control/faults")
      #expect(listed?.text == #"{"rules":[]}"#)
    }
  }

  @Test("a reset clears faults and begins the maintenance anew, but keeps the accounts")
  func reset() async throws {
    try await withBackend { backend in
      _ = try await backend.signUp("sjefke")
      _ = try await backend.get("/isUserNameAvailable?userName=maintenance")
      _ = try await backend.post("/control/faults", #"{"path":"*","fault":"drop"}"#)
      let reset = try await LoopbackClient.request("POST", "/control/reset", port: backend.port)
      #expect(reset?.status == 200)
      var statuses: [Int?] = []
      for _ in 1...3 {
        statuses.append(try await backend.get("/isUserNameAvailable?userName=maintenance")?.status)
      }
      #expect(statuses == [500, 500, 200])
      let again = try await backend.signUp("sjefke")
      #expect(again?.status == 409)
    }
  }

  @Test("requests are listed with status, fault and time; those of the control routes aren't")
  func requests() async throws {
    let time = Locked(ContinuousClock.now)
    var configuration = BackendServer.Configuration.forTests()
    configuration.now = { time.withLock { $0 } }
    try await withBackend(configuration) { backend in
      _ = try await backend.get(target)
      time.withLock { $0 += .milliseconds(1500) }
      _ = try await backend.post("/control/faults", #"{"path":"/health","fault":"drop"}"#)
      _ = try await backend.get("/health")
      let listed = try await backend.get("/control/requests")
      #expect(
        listed?.text == """
          {"requests":[{"method":"GET","milliseconds":0,"status":200,"target":"\(target)"},\
          {"fault":"drop","method":"GET","milliseconds":1500,"target":"/health"}]}
          """
      )
    }
  }

  @Test("a page of another site can't change what fails, even if its browser sends no Origin")
  func foreignPage() async throws {
    try await withBackend { backend in
      _ = try await backend.post("/control/faults", #"{"path":"*","fault":"status","status":503}"#)
      let refused = try await backend.post("/control/reset", "{}", headers: ["Sec-Fetch-Site: cross-site"])
      #expect(refused?.status == 403)
      #expect(try await backend.get("/health")?.status == 503)
      let accepted = try await backend.post("/control/reset", "{}", headers: ["Sec-Fetch-Site: same-origin"])
      #expect(accepted?.status == 200)
      #expect(try await backend.get("/health")?.status == 200)
    }
  }
}
