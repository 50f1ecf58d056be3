import Dispatch
import Foundation
import ServerTesting
import Testing
import WebServer

@testable import Backend

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("BackendServer")
struct BackendServerTests {
  @Test(
    "each name gets its answer",
    arguments: [
      ("", 400, errorBody("Username parameter missing")),
      ("?username=sjefke", 400, errorBody("Username parameter missing")),
      ("?userName=", 400, errorBody("Username must not be empty")),
      ("?userName", 400, errorBody("Username must not be empty")),
      ("?userName=abc", 400, errorBody("Username is too short.")),
      ("?userName=%C3%BC%C3%BC%C3%BC", 400, errorBody("Username is too short.")),
      ("?userName=abcd", 200, #"{"isAvailable":true,"userName":"abcd"}"#),
      ("?userName=++++", 400, errorBody("Username must not be blank")),
      ("?userName=admin", 400, errorBody("Username is not valid: admin.")),
      ("?userName=superuser", 400, errorBody("Username is not valid: superuser.")),
      ("?userName=peterfriese", 200, #"{"isAvailable":false,"userName":"peterfriese"}"#),
      ("?userName=johnnyappleseed", 200, #"{"isAvailable":false,"userName":"johnnyappleseed"}"#),
      ("?userName=page", 200, #"{"isAvailable":false,"userName":"page"}"#),
      ("?userName=johndoe", 200, #"{"isAvailable":false,"userName":"johndoe"}"#),
      ("?userName=illegalresponse", 200, #"{"isAvailable":false}"#),
      ("?userName=servererror", 500, errorBody("The database is corrupted")),
      ("?userName=sjefke", 200, #"{"isAvailable":true,"userName":"sjefke"}"#),
      ("?userName=Zo%C3%AB-%C3%9Cnal", 200, #"{"isAvailable":true,"userName":"Zoë-Ünal"}"#),
      ("?userName=Zoë-Ünal", 200, #"{"isAvailable":true,"userName":"Zoë-Ünal"}"#),
      ("?userName=two+words", 200, #"{"isAvailable":true,"userName":"two words"}"#),
      ("?userName=a%2Bb%26c", 200, #"{"isAvailable":true,"userName":"a+b&c"}"#),
      ("?userName=%22quoted%22/", 200, #"{"isAvailable":true,"userName":"\"quoted\"/"}"#),
      ("?userName=sjefke&userName=sjefke", 400, errorBody("Username parameter must be given only once")),
      ("?userName=sjefke&other=1", 200, #"{"isAvailable":true,"userName":"sjefke"}"#),
      ("?userName=%FF%FE%FF%FE", 400, errorBody("The request target isn't valid UTF-8")),
    ]
  )
  func names(query: String, status: Int, body: String) async throws {
    try await withBackend { backend in
      let answer = try await backend.get("/isUserNameAvailable\(query)")
      #expect(answer?.status == status)
      #expect(answer?.text == body)
      #expect(answer?["Content-Type"] == "application/json")
      #expect(answer?["Retry-After"] == nil)
    }
  }

  @Test("maintenance ends at the third of every three requests; maintenance! never does")
  func maintenance() async throws {
    var configuration = BackendServer.Configuration.forTests()
    configuration.maintenanceRetryAfter = 17
    try await withBackend(configuration) { backend in
      for round in 1...2 {
        for _ in 1...2 {
          let answer = try await backend.get("/isUserNameAvailable?userName=maintenance")
          #expect(answer?.status == 500, "round \(round)")
          #expect(answer?["Retry-After"] == "17")
          #expect(answer?.text == errorBody("Temporarily unavailable for maintenance"))
        }
        let third = try await backend.get("/isUserNameAvailable?userName=maintenance")
        #expect(third?.status == 200, "round \(round)")
        #expect(third?.text == #"{"isAvailable":true,"userName":"maintenance"}"#)
      }
      for _ in 1...4 {
        let answer = try await backend.get("/isUserNameAvailable?userName=maintenance!")
        #expect(answer?.status == 500)
        #expect(answer?["Retry-After"] == "17")
      }
    }
  }

  @Test("Retry-After says 2 unless set otherwise")
  func retryAfter() async throws {
    try await withBackend { backend in
      let answer = try await backend.get("/isUserNameAvailable?userName=maintenance!")
      #expect(answer?["Retry-After"] == "2")
    }
  }

  @Test(
    "wrong methods and unknown paths are refused",
    arguments: [
      ("POST", "/isUserNameAvailable", 405, "GET, HEAD, OPTIONS"), ("GET", "/signUp", 405, "OPTIONS, POST"),
      ("PUT", "/control/faults", 405, "DELETE, GET, HEAD, OPTIONS, POST"),
      ("GET", "/control/reset", 405, "OPTIONS, POST"),
      ("DELETE", "/health", 405, "GET, HEAD, OPTIONS"), ("GET", "/", 404, nil),
      ("GET", "/isusernameavailable", 404, nil),
      ("GET", "/control", 404, nil),
    ] as [(String, String, Int, String?)]
  )
  func refused(method: String, path: String, status: Int, allow: String?) async throws {
    try await withBackend { backend in
      let answer = try await LoopbackClient.request(method, path, port: backend.port)
      #expect(answer?.status == status)
      #expect(answer?["Allow"] == allow)
      #expect(answer?.text.hasPrefix(#"{"error":true,"reason":""#) == true)
    }
  }

  @Test("a foreign host or origin can't even control faults")
  func foreign() async throws {
    try await withBackend { backend in
      for header in ["Host: evil.example", "Origin: http://evil.example"] {
        let answer = try await backend.post("/control/faults", #"{"path":"*","fault":"drop"}"#, headers: [header])
        #expect(answer?.status == 403)
      }
      let health = try await backend.get("/health")
      #expect(health?.text == #"{"status":"ok"}"#)
    }
  }

  @Test("a failure of the service is reported in full, and the client only learns that it failed")
  func failure() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("accounts.sqlite")
    let reports = Locked<[String]>([])
    var configuration = BackendServer.Configuration(database: path) { report in reports.withLock { $0.append(report) } }
    configuration.passwordCost = .minimal
    try await withBackend(configuration) { backend in
      try Database(path: path).run("DROP TABLE name_keys")
      let answer = try await backend.get("/isUserNameAvailable?userName=sjefke")
      #expect(answer?.status == 500)
      #expect(answer?.text == errorBody("The server failed to answer this request"))
      let report = reports.withLock { $0 }.first
      #expect(report?.hasPrefix("GET /isUserNameAvailable: The database couldn't run") == true)
    }
  }

  @Test("of 200 sign-ups at once some wait and the others are refused, and meanwhile all else is answered")
  func rush() async throws {
    let hashQueue = SignUpService.makeHashQueue()
    let backend = try BackendServer(.forTests(), hashQueue: hashQueue)
    // Nobody's password is hashed before that.
    let (isBusy, mayEnd) = (Signal(), DispatchSemaphore(value: 0))
    let occupation = Task {
      await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...2 {
          group.addTask {
            try await hashQueue.run {
              isBusy.give()
              mayEnd.wait()
            }
          }
        }
      }
    }
    for _ in 1...2 { try await isBusy.wait() }
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for number in 1...200 { group.addTask { try await backend.signUp("person\(number)")?.status } }
      // What waits has no answer yet.
      for _ in 1...170 {
        let status = try await group.next() ?? nil
        #expect(status == 503)
      }
      let health = try await backend.get("/health")
      #expect(health?.status == 200)
      let availability = try await backend.get("/isUserNameAvailable?userName=person1")
      #expect(availability?.status == 200)
      for _ in 1...2 { mayEnd.signal() }
      for _ in 1...30 {
        let status = try await group.next() ?? nil
        #expect(status == 201)
      }
    }
    await occupation.value
    await backend.stop()
  }

  @Test("URLSession gets the same answers")
  func realClient() async throws {
    try await withBackend { backend in
      let url = try #require(URL(string: backend.url + "/isUserNameAvailable?userName=Zo%C3%AB-%C3%9Cnal"))
      let (data, response) = try await URLSession.shared.data(from: url)
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      #expect(String(decoding: data, as: UTF8.self) == #"{"isAvailable":true,"userName":"Zoë-Ünal"}"#)
    }
  }

  @Test(
    "a connection is used once, so that what is dropped is not sent again unseen",
    arguments: [
      ("GET /health", 200), ("GET /nowhere", 404), ("OPTIONS /health", 204), ("POST /control/reset", 200),
      ("GET /isUserNameAvailable?userName=maintenance!", 500),
    ]
  )
  func connections(request: String, status: Int) async throws {
    try await withBackend { backend in
      let client = try LoopbackClient(port: backend.port)
      try await client.send("\(request) HTTP/1.1\r\nHost: localhost:\(backend.port)\r\nContent-Length: 0\r\n\r\n")
      let answer = Answer(try await client.receiveAll())
      #expect(answer?.status == status)
      #expect(answer?["Connection"]?.lowercased() == "close")
    }
  }

  @Test("two backends can't have one port")
  func takenPort() async throws {
    try await withBackend { backend in
      var configuration = BackendServer.Configuration.forTests()
      configuration.server.port = backend.port
      #expect(throws: HTTPServerError.portTaken(address: "127.0.0.1", port: backend.port)) {
        try BackendServer(configuration)
      }
    }
  }
}
