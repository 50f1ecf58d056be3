import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

@Suite("SignUpService")
struct SignUpServiceTests {
  @Test("an account is created, and its name is then taken in any spelling")
  func created() async throws {
    try await withBackend { backend in
      let created = try await backend.signUp("Zoë-Ünal")
      #expect(created?.status == 201)
      #expect(created?.text == #"{"userName":"Zoë-Ünal"}"#)

      let again = try await backend.signUp("ZOË-ÜNAL")
      #expect(again?.status == 409)
      #expect(again?.text == errorBody("This username is not available"))
      let availability = try await backend.get("/isUserNameAvailable?userName=zo%C3%AB-%C3%BCnal")
      #expect(availability?.text == #"{"isAvailable":false,"userName":"zoë-ünal"}"#)
    }
  }

  @Test(
    "what can't be an account is refused with the reason",
    arguments: [
      (#"{"password":"correct horse"}"#, 400, "Username parameter missing"),
      (#"{"userName":null,"password":"correct horse"}"#, 400, "Username parameter missing"),
      (#"{"userName":"","password":"correct horse"}"#, 400, "Username must not be empty"),
      (#"{"userName":"abc","password":"correct horse"}"#, 400, "Username is too short."),
      (#"{"userName":"    ","password":"correct horse"}"#, 400, "Username must not be blank"),
      (#"{"userName":"admin","password":"correct horse"}"#, 400, "Username is not valid: admin."),
      (#"{"userName":"sjefke"}"#, 400, "Password missing"),
      (#"{"userName":"sjefke","password":"1234567"}"#, 400, "Password must have at least 8 characters"),
      (#"{"userName":7,"password":"correct horse"}"#, 400, "The field userName must be of type String"),
      (#"{"userName":"sjefke","#, 400, "The body isn't valid JSON"),
      ("[]", 400, "The body must be a JSON object"),
      ("", 400, "The body isn't valid JSON"),
      (#"{"userName":"page","password":"correct horse"}"#, 409, "This username is not available"),
      (#"{"userName":"illegalresponse","password":"correct horse"}"#, 409, "This username is not available"),
      (#"{"userName":"servererror","password":"correct horse"}"#, 500, "The database is corrupted"),
      (#"{"userName":"maintenance!","password":"correct horse"}"#, 500, "Temporarily unavailable for maintenance"),
    ]
  )
  func refused(json: String, status: Int, reason: String) async throws {
    try await withBackend { backend in
      let answer = try await backend.post("/signUp", json)
      #expect(answer?.status == status)
      #expect(answer?.text == errorBody(reason))
    }
  }

  @Test("a body of another type is unsupported, one that is too large is refused")
  func body() async throws {
    try await withBackend { backend in
      let form = try await LoopbackClient.request(
        "POST",
        "/signUp",
        port: backend.port,
        headers: ["Content-Type: application/x-www-form-urlencoded"],
        body: Data("userName=sjefke".utf8)
      )
      #expect(form?.status == 415)
      let large = try await backend.signUp("sjefke", String(repeating: "a", count: 70_000))
      #expect(large?.status == 413)
    }
  }

  @Test("signing up goes through maintenance by itself, without shifting the answers about availability")
  func maintenance() async throws {
    try await withBackend { backend in
      var statuses: [Int?] = []
      for _ in 1...4 { statuses.append(try await backend.signUp("maintenance")?.status) }
      #expect(statuses == [500, 500, 201, 500])
      statuses = []
      for _ in 1...3 {
        statuses.append(try await backend.get("/isUserNameAvailable?userName=maintenance")?.status)
      }
      #expect(statuses == [500, 500, 200])
    }
  }

  @Test("of many who want one name at once, one gets it")
  func concurrent() async throws {
    try await withBackend { backend in
      let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
        for number in 1...12 {
          group.addTask { try await backend.signUp(number.isMultiple(of: 2) ? "sjefke" : "SJEFKE")?.status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.filter { $0 == 201 }.count == 1)
      #expect(statuses.filter { $0 == 409 }.count == 11)
    }
  }

  @Test("the same request with the same key gets the same answer again, and another one doesn't")
  func idempotency() async throws {
    try await withBackend { backend in
      for _ in 1...3 {
        let answer = try await backend.signUp("sjefke", key: "k1")
        #expect(answer?.status == 201)
        #expect(answer?.text == #"{"userName":"sjefke"}"#)
      }
      for _ in 1...2 {
        let answer = try await backend.signUp("sjefke", key: "k2")
        #expect(answer?.status == 409)
      }
      let otherPassword = try await backend.signUp("sjefke", "correct house", key: "k1")
      #expect(otherPassword?.status == 422)
      #expect(otherPassword?.text == errorBody("This Idempotency-Key was used for another sign-up before"))
      let otherName = try await backend.signUp("another", key: "k1")
      #expect(otherName?.status == 422)
      let availability = try await backend.get("/isUserNameAvailable?userName=another")
      #expect(availability?.text == #"{"isAvailable":true,"userName":"another"}"#)
    }
  }

  @Test("a refused request doesn't use up its key, and a failed one can be tried again with it")
  func keyOfRefused() async throws {
    try await withBackend { backend in
      let refused = try await backend.signUp("sjefke", "short", key: "k1")
      #expect(refused?.status == 400)
      let corrected = try await backend.signUp("sjefke", key: "k1")
      #expect(corrected?.status == 201)

      var statuses: [Int?] = []
      for _ in 1...5 { statuses.append(try await backend.signUp("maintenance", key: "k2")?.status) }
      #expect(statuses == [500, 500, 201, 201, 201])
    }
  }

  @Test("many at once with one key all get the one answer")
  func concurrentKey() async throws {
    try await withBackend { backend in
      let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
        for _ in 1...8 { group.addTask { try await backend.signUp("sjefke", key: "k1")?.status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 201, count: 8))
    }
  }

  @Test("a key that is empty, too long or repeated is a bad request")
  func badKey() async throws {
    try await withBackend { backend in
      for key in ["", String(repeating: "k", count: 256), "a\r\nIdempotency-Key: b"] {
        let answer = try await backend.signUp("sjefke", key: key)
        #expect(answer?.status == 400)
      }
    }
  }

  @Test("accounts, and answers to keys, outlive the server")
  func durable() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    try await withBackend(.forTests(database: path)) { backend in
      let answer = try await backend.signUp("sjefke", key: "k1")
      #expect(answer?.status == 201)
    }
    try await withBackend(.forTests(database: path)) { backend in
      let replayed = try await backend.signUp("sjefke", key: "k1")
      #expect(replayed?.status == 201)
      let availability = try await backend.get("/isUserNameAvailable?userName=sjefke")
      #expect(availability?.text == #"{"isAvailable":false,"userName":"sjefke"}"#)
    }
  }

  @Test("passwords aren't kept as they are")
  func hashed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    try await withBackend(.forTests(database: path)) { backend in
      _ = try await backend.signUp("sjefke", "unmistakable password", key: "k1")
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      let bytes = try Data(contentsOf: folder.url.appending(path: file))
      #expect(bytes.range(of: Data("unmistakable".utf8)) == nil)
    }
  }

  @Test("a sign-up beyond the waiting is refused with 503 and Retry-After, while other questions are answered")
  func rush() async throws {
    let mayEnd = DispatchSemaphore(value: 0)
    let began = Signal()
    let hashQueue = WorkQueue(name: "test", width: 1, backlog: 0)
    let hashing = Task {
      try await hashQueue.run {
        began.give()
        mayEnd.wait()
      }
    }
    try await began.wait()
    let service = SignUpService(
      store: try AccountStore(path: ":memory:"),
      hasher: try PasswordHasher(cost: .minimal),
      retryAfter: 2,
      hashQueue: hashQueue
    )
    var router = Router { error, _ in Issue.record("the service failed: \(error)") }
    router.on(.get, "/isUserNameAvailable") { try await service.availability($0) }
    router.on(.post, "/signUp") { try await service.signUp($0) }
    let server = try HTTPServer(.init()) { [router] in await router.respond(to: $0) }
    let wish = #"{"userName":"sjefke","password":"correct horse"}"#

    let refused = try await LoopbackClient.post(wish, to: "/signUp", port: server.port)
    #expect(refused?.status == 503)
    #expect(refused?["Retry-After"] == "1")
    let question = "/isUserNameAvailable?userName=sjefke"
    let answer = try await LoopbackClient.request("GET", question, port: server.port)
    #expect(answer?.text == #"{"isAvailable":true,"userName":"sjefke"}"#)

    mayEnd.signal()
    try await hashing.value
    let accepted = try await LoopbackClient.post(wish, to: "/signUp", port: server.port)
    #expect(accepted?.status == 201)
    await server.stop()
  }
}
