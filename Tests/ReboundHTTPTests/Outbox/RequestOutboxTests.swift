import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundOutbox
import ReboundTesting
import Testing

private struct PlaceOrder: Request {
  var id = 1
  var method: HTTPMethod { .post }
  var path: RequestPath { "orders/\("a/b")" }
  var query: Parameters { ["note": "50 % & more"] }
  var headers: HTTPHeaders { ["X-Kind": "test"] }
  var body: RequestBody { .json(["id": id]) }
  var idempotency = Idempotency.byMethod
  typealias Response = NoContent
}

@Suite("RequestOutbox")
struct RequestOutboxTests {
  private let storage = InMemoryOutboxStorage()
  private let policy: OutboxPolicy

  init() throws {
    policy = try OutboxPolicy(backoff: .constant(.seconds(10)))
  }

  private func outbox(
    _ test: ClientUnderTest,
    reachability: (any Reachability)? = nil,
    storage: (any OutboxStorage)? = nil
  ) -> RequestOutbox {
    RequestOutbox(
      "orders",
      sendingWith: test.client,
      policy: policy,
      storage: storage ?? self.storage,
      reachability: reachability,
      scheduler: test.scheduler
    )
  }

  private func enqueue(
    _ request: some Request,
    in outbox: RequestOutbox,
    _ test: ClientUnderTest,
    key: String = "k",
    options: OutboxOptions = .standard
  ) -> Result<OutboxEntry<StoredRequest>, OutboxFailure>? {
    let recorder = Recorder<OutboxEntry<StoredRequest>, OutboxFailure>()
    outbox.enqueueing(request, key: key, options: options).subscribe(recorder)
    test.scheduler.advance()
    if let value = recorder.values.first { return .success(value) }
    if case .failure(let failure) = recorder.completion { return .failure(failure) }
    return nil
  }

  @Test("a request that is made offline is sent when the network is back, after a restart, as it was made")
  func offline() throws {
    let reachability = ManualReachability(.offline)
    do {
      let test = ClientUnderTest([])
      let outbox = outbox(test, reachability: reachability)
      #expect(try enqueue(PlaceOrder(), in: outbox, test)?.get() != nil)
      expectEqual(test.transport.count, 0)
    }
    let test = ClientUnderTest([.status(201)])
    let outbox = outbox(test, reachability: reachability)
    outbox.start()
    test.scheduler.advance(by: .seconds(60))
    expectEqual(test.transport.count, 0)
    reachability.current = .online
    test.scheduler.advance(by: .seconds(1))
    let call = try #require(test.transport.calls.first)
    expectEqual(call.time, .seconds(60))
    // As the client itself would have sent it.
    let direct = try PlaceOrder().message(base: .service)
    expectEqual(call.request.url, direct.url)
    expectEqual(call.request.method, .post)
    expectEqual(call.body, Data(#"{"id":1}"#.utf8))
    expectEqual(call.request.headers["Content-Type"], "application/json")
    expectEqual(call.request.headers["X-Kind"], "test")
    #expect(outbox.queue.state.isEmpty)
  }

  @Test("each attempt has the same idempotency key: that of the request, or one that was drawn")
  func idempotencyKey() throws {
    let test = ClientUnderTest([.status(503, retryAfter: 20), .reset, .status(200), .status(200)])
    let outbox = outbox(test)
    let entry = try #require(try enqueue(PlaceOrder(), in: outbox, test)?.get())
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.transport.calls.map(\.time), [.zero, .seconds(20), .seconds(30)])
    let keys = test.transport.calls.map { $0.request.headers["Idempotency-Key"] }
    expectEqual(keys, Array(repeating: entry.idempotencyKey, count: 3))
    expectEqual(entry.idempotencyKey.count, 32)
    let own = try enqueue(PlaceOrder(idempotency: .key("order-7")), in: outbox, test)?.get()
    expectEqual(own?.idempotencyKey, "order-7")
    test.scheduler.advance()
    expectEqual(test.transport.calls.last?.request.headers["Idempotency-Key"], "order-7")
  }

  @Test(
    "no credential is written: middleware adds it when the request is sent, and a request that holds one is refused"
  )
  func credentials() throws {
    struct Keyed: Request {
      var method: HTTPMethod { .post }
      var path: RequestPath { "orders" }
      var headers: HTTPHeaders { ["Authorization": "Bearer secret"] }
      typealias Response = NoContent
    }
    struct InQuery: Request {
      var path: RequestPath { "orders" }
      var query: Parameters { ["access_token": "secret"] }
      typealias Response = NoContent
    }
    struct SignIn: HTTPMiddleware {
      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        var request = request
        request.message.headers["Authorization"] = "Bearer secret"
        return next(request)
      }
    }
    let test = ClientUnderTest([.offline, .status(200)], [SignIn()])
    let outbox = outbox(test)
    for result in [enqueue(Keyed(), in: outbox, test), enqueue(InQuery(), in: outbox, test)] {
      guard case .failure(.unstorable(let error)) = result else {
        Issue.record("a secret was stored")
        continue
      }
      #expect(error is RequestWithCredential)
    }
    _ = enqueue(PlaceOrder(), in: outbox, test)
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.transport.calls.last?.request.headers["Authorization"], "Bearer secret")
    #expect(!storage.records.contains { String(decoding: $0, as: UTF8.self).contains("secret") })
    #expect(outbox.queue.state.isEmpty)
  }

  @Test("what the service refuses is a dead letter that says why")
  func refused() throws {
    let test = ClientUnderTest([.status(409), .status(200)])
    let outbox = outbox(test)
    _ = enqueue(PlaceOrder(), in: outbox, test)
    _ = enqueue(PlaceOrder(id: 2), in: outbox, test)
    test.scheduler.advance()
    let letter = try #require(outbox.queue.deadLetters.first)
    expectEqual(letter.reason, .refused)
    #expect(letter.text.contains("409"))
    expectEqual(test.transport.count, 2)
    expectEqual(outbox.queue.state, OutboxState(deadLetters: 1))
  }

  @Test("the sign-in page of a network is no answer, and does not count")
  func captivePortal() throws {
    let test = ClientUnderTest([.captivePortal, .status(204)])
    let outbox = outbox(test)
    _ = enqueue(PlaceOrder(), in: outbox, test)
    test.scheduler.advance()
    expectEqual(outbox.queue.entries.map(\.attempts), [0])
    test.scheduler.advance(by: .seconds(10))
    #expect(outbox.queue.state.isEmpty)
  }

  @Test("a request that must not be sent twice is not, once it may have arrived")
  func notIdempotent() throws {
    let test = ClientUnderTest([.refused, .reset, .silence])
    let outbox = outbox(test)
    _ = enqueue(PlaceOrder(idempotency: .notIdempotent), in: outbox, test)
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.transport.count, 2)
    expectEqual(outbox.queue.deadLetters.first?.text.contains("must not be sent twice"), true)
    // Nor after a restart in the middle of its attempt.
    let other = InMemoryOutboxStorage()
    do {
      let first = self.outbox(test, storage: other)
      _ = enqueue(PlaceOrder(idempotency: .notIdempotent), in: first, test)
      test.scheduler.advance()
      expectEqual(first.queue.state.delivering, 1)
    }
    let second = self.outbox(test, storage: other)
    second.start()
    test.scheduler.advance()
    expectEqual(test.transport.count, 3)
    expectEqual(second.queue.deadLetters.count, 1)
  }

  @Test(
    "nor is it when power goes, or the process ends and its storage was full, while it is under way",
    arguments: [false, true]
  )
  func notIdempotentOnDisk(isFull: Bool) throws {
    for seed in UInt64(0)..<20 {
      let disk = SimulatedDisk(seed: seed)
      let reachability = ManualReachability(.offline)
      let test = ClientUnderTest([.silence, .silence, .silence])
      let first = outbox(test, reachability: reachability, storage: disk.outboxStorage(at: "/box"))
      #expect(try enqueue(PlaceOrder(idempotency: .notIdempotent), in: first, test)?.get() != nil)
      if isFull { disk.faultRate = 1 }
      reachability.current = .online
      test.scheduler.advance(by: .seconds(5))
      expectEqual(test.transport.count, isFull ? 0 : 1, "seed \(seed)")
      disk.faultRate = 0
      disk.restart(losingPower: !isFull)
      let second = outbox(test, reachability: reachability, storage: disk.outboxStorage(at: "/box"))
      second.start()
      test.scheduler.advance(by: .seconds(60))
      #expect(test.transport.count <= 1, "seed \(seed)")
      expectEqual(second.queue.state.delivering + second.queue.deadLetters.count, 1, "seed \(seed)")
    }
  }

  @Test(
    "a request that must not be sent twice is not, once a service has done it and then led on to what does not come",
    arguments: [.captivePortal, .offline, .status(425), .status(503)] as [ScriptedTransport.Step]
  )
  func doneBeforeRedirect(rest: ScriptedTransport.Step) throws {
    let test = ClientUnderTest([.redirect(303, to: "/v1/orders/1"), rest, .status(201)])
    let outbox = outbox(test)
    _ = enqueue(PlaceOrder(idempotency: .notIdempotent), in: outbox, test)
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.transport.count, 2)
    expectEqual(outbox.queue.deadLetters.first?.text.contains("must not be sent twice"), true)
  }

  @Test(
    "nor is it once a page for a browser has come, which may be the service's own answer",
    arguments: [
      .captivePortal, .status(511), .response(201, ["Content-Type": "text/html"], Data("<html>Order 17</html>".utf8)),
    ] as [ScriptedTransport.Step]
  )
  func pageAsAnswer(page: ScriptedTransport.Step) throws {
    let test = ClientUnderTest([page, .status(201)])
    let outbox = outbox(test)
    _ = enqueue(PlaceOrder(idempotency: .notIdempotent), in: outbox, test)
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.transport.count, 1)
    expectEqual(outbox.queue.deadLetters.first?.text.contains("must not be sent twice"), true)
  }

  @Test("nor where whoever judges takes a failure after which it may have arrived for no way to the service")
  func judgedUnreachable() throws {
    let test = ClientUnderTest([.refused, .status(503), .status(201)])
    let outbox = RequestOutbox(
      "orders",
      sendingWith: test.client,
      policy: policy,
      storage: storage,
      scheduler: test.scheduler,
      judging: { .unreachable($0) }
    )
    _ = enqueue(PlaceOrder(idempotency: .notIdempotent), in: outbox, test)
    test.scheduler.advance(by: .seconds(100))
    expectEqual(test.transport.count, 2)
    expectEqual(outbox.queue.deadLetters.first?.text.contains("must not be sent twice"), true)
  }

  @Test(
    "one that must not be sent twice waits while its credential cannot be renewed: it has not been done",
    arguments: [.captivePortal, .serverError(503), .transport(.reset)] as [NetworkFailure.Kind]
  )
  func renewalFails(kind: NetworkFailure.Kind) throws {
    let session = AuthenticatingTests.Session([
      .answering { $0.headers["Authorization"] == "Bearer new" ? .status(201) : .status(401) }
    ])
    let outbox = outbox(session.test)
    _ = enqueue(PlaceOrder(idempotency: .notIdempotent), in: outbox, session.test)
    session.refreshes.send(completion: .failure(NetworkFailure(kind)))
    session.test.scheduler.advance(by: .seconds(10))
    session.refreshes.send("new")
    session.test.scheduler.advance(by: .seconds(10))
    #expect(outbox.queue.deadLetters.isEmpty)
    #expect(outbox.queue.state.isEmpty)
    expectEqual(session.tokens, ["Bearer old", "Bearer old", "Bearer new"])
  }

  @Test("answers are told with the entry that they are to")
  func answers() throws {
    let test = ClientUnderTest([.ok(#"{"number":7}"#)])
    let outbox = outbox(test)
    let recorder = Recorder<RequestOutbox.Answer, Never>()
    outbox.answers.subscribe(recorder)
    _ = enqueue(PlaceOrder(), in: outbox, test)
    test.scheduler.advance()
    expectEqual(recorder.values.map(\.response.status), [200])
    expectEqual(recorder.values.map(\.entry.payload.operation), ["PlaceOrder"])
    expectEqual(recorder.values.map(\.entry.payload.description), ["PlaceOrder: POST orders/a%2Fb"])
  }

  @Test("a body that is a stream is read when it is stored, so it can be sent again")
  func stream() throws {
    struct Upload: Request {
      let stream: BodyStream
      var method: HTTPMethod { .put }
      var path: RequestPath { "photo" }
      var body: RequestBody { .stream(stream, contentType: "image/png") }
      typealias Response = NoContent
    }
    let pieces = [Data("ab".utf8), Data("c".utf8)]
    nonisolated(unsafe) var next = 0  // one thread reads it
    let once = BodyStream.once { _ in
      defer { next += 1 }
      return next < pieces.count ? pieces[next] : Data()
    }
    let test = ClientUnderTest([.timeout, .status(200)])
    let outbox = outbox(test)
    _ = enqueue(Upload(stream: once), in: outbox, test)
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.transport.calls.map(\.body), [Data("abc".utf8), Data("abc".utf8)])
    expectEqual(test.transport.calls.last?.request.headers["Content-Type"], "image/png")
  }

  @Test("a request is stored below the client's address, and sent to the one that the client has then")
  func movedService() throws {
    do {
      let test = ClientUnderTest([.offline])
      _ = enqueue(PlaceOrder(), in: outbox(test), test)
    }
    var test = ClientUnderTest([])
    let transport = ScriptedTransport([.status(200)], time: test.scheduler.time)
    test.client = WebAPIClient(
      baseURL: URL(string: "https://new.example/v2/?region=eu"),
      transport: transport,
      deliveringOn: nil,
      time: test.client.time
    )
    let moved = outbox(test)
    moved.start()
    test.scheduler.advance()
    #expect(
      transport.calls.map(\.request.url.absoluteString)
        == ["https://new.example/v2/orders/a%2Fb?region=eu&note=50%20%25%20%26%20more"]
    )
  }

  @Test("over a real connection: what a dead service did not take is taken by the living one")
  func loopback() async throws {
    let server = try MisbehavingServer()
    server.programConnections(.closeOnAccept)
    server.program("/orders/a%2Fb", .status(503), .answer("thanks"))
    let client = WebAPIClient(baseURL: server.url("/"), transport: URLSessionTransport(), deliveringOn: nil)
    let outbox = RequestOutbox(
      "orders",
      sendingWith: client,
      policy: try OutboxPolicy(backoff: .immediate),
      storage: InMemoryOutboxStorage()
    )
    let (statuses, continuation) = AsyncStream<Int>.makeStream()
    let subscription = outbox.answers.sink { continuation.yield($0.response.status) }
    let entry = try await outbox.enqueue(PlaceOrder(), key: "cart")
    for await status in statuses {
      expectEqual(status, 200)
      break
    }
    subscription.cancel()
    let keys = server.requests.map { $0.fields.first { $0.name.lowercased() == "idempotency-key" }?.value }
    expectEqual(keys, [entry.idempotencyKey, entry.idempotencyKey])
    await outbox.queue.close()
  }

  @Test("what may have arrived is told in words for people")
  func words() {
    let error = MayHaveArrived(setback: nil)
    expectEqual(error.localizedDescription, "This may have arrived already, so it is not sent a second time.")
    expectEqual(error.recoverySuggestion, "Look whether the service has it; then send it again, or discard it.")
  }
}
