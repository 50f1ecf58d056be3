import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

/// What ``Transport`` promises, of each transport.
@Suite("Transports", .timeLimit(.minutes(1)))
struct TransportContractTests {
  let server: MisbehavingServer
  let scheduler = TestScheduler()
  let log = TransportLog()

  init() throws {
    server = try MisbehavingServer()
  }

  @Test("send method, fields and body, and tell head and body", arguments: TransportKind.allCases)
  func roundTrip(kind: TransportKind) async throws {
    server.program("/a%2Fb", .answer("hello", fields: ["X-Answer: 42"]))
    let request = TransportRequest(
      server.url("/a%2Fb?q=%C3%BC%20&q=+"),
      method: .patch,
      headers: ["X-Question": "6x9", "Content-Type": "text/plain"],
      body: .data(Data("what?".utf8)),
      limits: .none
    )
    let exchange = kind.make().start(request, telling: log.add)
    await log.end()
    let received = try #require(server.requests.first)
    #expect(received.method == "PATCH")
    #expect(received.target == "/a%2Fb?q=%C3%BC%20&q=+")
    #expect(received[field: "x-question"] == "6x9")
    #expect(received[field: "Content-Type"] == "text/plain")
    #expect(received[field: "Content-Length"] == "5")
    #expect(received.body == Array("what?".utf8))
    #expect(log.heads.first?.headers["x-answer"] == "42")
    #expect(log.body == Data("hello".utf8))
    #expect(log.sent.last == 5)
    exchange.cancel()
  }

  @Test("add no cookies, and follow no redirect", arguments: TransportKind.allCases)
  func noStateOfTheirOwn(kind: TransportKind) async {
    server.program("/", .redirect(to: "/elsewhere"), .answer())
    server.program("/cookie", .answer(fields: ["Set-Cookie: taste=sweet"]))
    let transport = kind.make()
    for path in ["/cookie", "/", "/"] {
      let log = TransportLog()
      let exchange = transport.start(TransportRequest(server.url(path)), telling: log.add)
      await log.end()
      exchange.cancel()
    }
    #expect(server.requests.map(\.path) == ["/cookie", "/", "/"])
    #expect(server.requests.allSatisfy { $0[field: "Cookie"] == nil })
  }

  @Test(
    "tell a refusal that names a scheme at once, and ask nobody for credentials",
    arguments: TransportKind.allCases,
    [
      "Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\", qop=\"auth\"", "Bearer error=\"invalid_token\"",
      "Negotiate",
    ]
  )
  func challenge(kind: TransportKind, scheme: String) async {
    server.program("/", .status(401, fields: ["WWW-Authenticate: \(scheme)"]))
    for method in [HTTPMethod.get, .post] {
      let log = TransportLog()
      let request = TransportRequest(server.url(), method: method, limits: .none)
      let exchange = kind.make().start(request, telling: log.add)
      await log.end()
      #expect(log.heads.map(\.status) == [401])
      #expect(log.heads.first?.headers["WWW-Authenticate"] == scheme)
      #expect(log.failure == nil)
      exchange.cancel()
    }
    #expect(server.requests.count == 2)
  }

  @Test("keep a connection for the next request", arguments: TransportKind.allCases)
  func reuse(kind: TransportKind) async {
    server.program("/", .answer())
    let transport = kind.make()
    for _ in 0..<5 {
      let log = TransportLog()
      let exchange = transport.start(TransportRequest(server.url()), telling: log.add)
      await log.end()
      exchange.cancel()
    }
    #expect(server.requests.count == 5)
    #expect(server.connectionCount == 1)
  }

  @Test("send a file with its length", arguments: TransportKind.allCases)
  func file(kind: TransportKind) async throws {
    server.program("/", .answer())
    let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    try Data(repeating: 7, count: 150_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let request = TransportRequest(server.url(), method: .put, body: .file(file))
    let exchange = kind.make().start(request, telling: log.add)
    await log.end()
    #expect(server.requests.first?[field: "Content-Length"] == "150000")
    #expect(server.requests.first?.bodyCount == 150_000)
    #expect(log.sent.last == 150_000)
    #expect(log.sent == log.sent.sorted())
    exchange.cancel()
  }

  @Test("send a stream of unknown length in chunks, without waiting for a 100", arguments: TransportKind.allCases)
  func stream(kind: TransportKind) async {
    server.program("/", .answer())
    let body = BodyStream { PiecewiseReader(count: 100_000, piece: 7_000) }
    let request = TransportRequest(server.url(), method: .put, body: .stream(body))
    let exchange = kind.make().start(request, telling: log.add)
    await log.end()
    #expect(server.requests.first?[field: "Transfer-Encoding"] == "chunked")
    #expect(server.requests.first?[field: "Expect"] == nil)
    #expect(server.requests.first?.bodyCount == 100_000)
    #expect(log.sent.last == 100_000)
    exchange.cancel()
  }

  struct Unreadable: Error {}

  @Test("fail with .body when it cannot be read", arguments: TransportKind.allCases, [false, true])
  func unreadableBody(kind: TransportKind, midway: Bool) async {
    server.program("/", .answer())
    let isSecond = Flag()
    let stream = BodyStream.once { count in
      if midway, !isSecond.raise() { return Data(repeating: 1, count: min(count, 10)) }
      throw Unreadable()
    }
    let request = TransportRequest(server.url(), method: .put, body: .stream(stream), limits: .none)
    let exchange = kind.make().start(request, telling: log.add)
    await log.end()
    #expect(log.failure?.kind == .body)
    #expect(log.failure?.underlying is Unreadable)
    exchange.cancel()
  }

  @Test("fail with .body when there is no such file", arguments: TransportKind.allCases)
  func missingFile(kind: TransportKind) async {
    let file = URL(filePath: "/nowhere/at/all")
    let request = TransportRequest(server.url(), method: .put, body: .file(file))
    let exchange = kind.make().start(request, telling: log.add)
    await log.end()
    #expect(log.failure?.kind == .body)
    #expect(server.connectionCount == 0)
    exchange.cancel()
  }

  @Test("keep the total limit, whatever moves meanwhile", arguments: TransportKind.allCases)
  func totalLimit(kind: TransportKind) async {
    server.program("/", .stallInBody)
    let limits = TransportLimits(idle: .seconds(1000), total: .seconds(60))
    let transport = kind.make(scheduler.time)
    let exchange = transport.start(TransportRequest(server.url(), limits: limits), telling: log.add)
    await log.until { $0.contains { if case .chunk = $0 { true } else { false } } }
    scheduler.advance(by: 59.999)
    #expect(!log.isOver)
    scheduler.advance(by: 0.001)
    await log.end()
    #expect(log.failure?.kind == .timeout(.total))
    #expect(log.failure?.bytesReceived == 4)
    await server.connectionsEnded()
    exchange.cancel()
  }

  @Test("let a limit of zero pass at once", arguments: TransportKind.allCases)
  func zeroLimit(kind: TransportKind) async {
    server.program("/", .answer())
    let transport = kind.make(scheduler.time)
    let exchange = transport.start(TransportRequest(server.url(), limits: .init(total: .zero)), telling: log.add)
    await log.end()
    #expect(log.failure?.kind == .timeout(.total))
    exchange.cancel()
  }

  @Test("say that nobody listens", arguments: TransportKind.allCases)
  func refused(kind: TransportKind) async throws {
    let port = try RefusingPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/"))
    let exchange = kind.make().start(TransportRequest(url), telling: log.add)
    await log.end()
    #expect(log.failure?.kind == .connect)
    #expect(log.failure?.provesNothingWasSent == true)
    exchange.cancel()
  }

  @Test("say that a name is unknown, and that there is no network if so", arguments: TransportKind.allCases)
  func unknownHost(kind: TransportKind) async throws {
    let url = try #require(URL(string: "http://no-such-host.invalid/"))
    for (connectivity, expected) in [(Connectivity.online, TransportFailure.Kind.dns), (.offline, .offline)] {
      let log = TransportLog()
      let transport = kind.make(reachability: ManualReachability(connectivity))
      let exchange = transport.start(TransportRequest(url), telling: log.add)
      await log.end()
      #expect(log.failure?.kind == expected)
      exchange.cancel()
    }
  }

  @Test("give up on a port that does not answer", arguments: TransportKind.allCases)
  func silence(kind: TransportKind) async throws {
    let port = try SilentPort()
    let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/"))
    let limits = TransportLimits(connect: .seconds(10), idle: .seconds(30))
    let transport = kind.make(scheduler.time)
    let exchange = transport.start(TransportRequest(url, limits: limits), telling: log.add)
    scheduler.advance(by: 30)
    await log.end()
    // URLSession does not tell when a connection stands, so that the other limit has to do.
    #expect(log.failure?.kind == .timeout(kind == .urlSession ? .idle : .connect))
    exchange.cancel()
  }

  @Test(
    "tell nothing after a cancel, and close the connection",
    arguments: TransportKind.allCases,
    [Fault.stallOnAccept, .stallBeforeHead, .stallAfterHead, .stallInBody]
  )
  func cancel(kind: TransportKind, fault: Fault) async {
    if fault.isOfConnection { server.programConnections(then: fault) } else { server.program("/", fault) }
    let transport = kind.make(scheduler.time)
    let exchange = transport.start(TransportRequest(server.url()), telling: log.add)
    await server.stallsReached()
    if fault == .stallInBody { await log.until { $0.count == 2 } }
    exchange.cancel()
    exchange.cancel()
    await server.connectionsEnded()
    let told = log.events.count
    scheduler.advance(by: 1000)
    #expect(log.events.count == told)
    #expect(!log.isOver)
  }

  @Test("let go of the receiver at the end and at a cancel", arguments: TransportKind.allCases, [false, true])
  func release(kind: TransportKind, cancels: Bool) async {
    server.program("/", cancels ? .stallBeforeHead : .answer())
    let transport = kind.make(scheduler.time)
    weak var held: TransportLog?
    do {
      let own = TransportLog()
      held = own
      let exchange = transport.start(TransportRequest(server.url())) { [log] event in
        own.add(event)
        log.add(event)
      }
      if cancels {
        await server.stallsReached()
        exchange.cancel()
      } else {
        await log.end()
      }
    }
    // The call that told the end may not have returned yet; if it holds on, the limit of the suite ends this.
    while held != nil { await Task.yield() }
    #expect(held == nil)
  }

  @Test("make the server wait during a pause", arguments: TransportKind.allCases.filter(\.canPause))
  func pause(kind: TransportKind) async {
    // Far more than all buffers on the way hold.
    server.program("/", .endlessBody(of: 40_000_000))
    let transport = kind.make(scheduler.time)
    let limits = TransportLimits(idle: .seconds(30))
    let cell = ExchangeCell()
    let exchange = transport.start(TransportRequest(server.url(), limits: limits)) { [log] event in
      log.add(event)
      if case .head = event { cell.pause() }
    }
    cell.set(exchange)
    await log.until { !$0.isEmpty }
    scheduler.advance(by: 3600)
    #expect(log.events.count == 1)
    exchange.resume()
    await log.end()
    #expect(log.failure == nil)
    #expect(log.body.count >= 40_000_000)
  }

  @Test(
    "never send twice what is not idempotent",
    arguments: TransportKind.allCases,
    [TransportBody.none, .data(Data("once".utf8))]
  )
  func sendsOnce(kind: TransportKind, body: TransportBody) async {
    server.program("/", .answer(), .emptyReply, .answer())
    let transport = kind.make()
    for expected in [nil, TransportFailure.Kind.reset] {
      let log = TransportLog()
      let exchange = transport.start(TransportRequest(server.url(), method: .post, body: body), telling: log.add)
      await log.end()
      #expect(log.failure?.kind == expected)
      exchange.cancel()
    }
    #expect(server.requests.count == 2)
  }

  @Test("take many requests at once", arguments: TransportKind.allCases)
  func concurrent(kind: TransportKind) async {
    server.program("/", .answer("together"))
    let transport = kind.make()
    let logs = (0..<50).map { _ in TransportLog() }
    let exchanges = logs.map { transport.start(TransportRequest(server.url()), telling: $0.add) }
    for log in logs { await log.end() }
    #expect(logs.allSatisfy { $0.body == Data("together".utf8) })
    for exchange in exchanges { exchange.cancel() }
  }

  @Test("finish what is under way when they are released themselves", arguments: TransportKind.allCases)
  func releasedTransport(kind: TransportKind) async {
    server.program("/", .stallInBody)
    var transport: (any Transport)? = kind.make()
    let exchange = transport?.start(TransportRequest(server.url()), telling: log.add)
    await server.stallsReached()
    transport = nil
    server.goOn()
    await log.end()
    #expect(log.failure?.kind == .truncated)
    exchange?.cancel()
  }
}

/// Is raised once.
///
/// Unchecked, because the lock guards it.
final class Flag: @unchecked Sendable {
  private let lock = Lock()
  private var isRaised = false

  /// Whether it was raised before.
  func raise() -> Bool {
    lock.withLock {
      defer { isRaised = true }
      return isRaised
    }
  }
}

/// Pauses an exchange, also before it is known.
///
/// Unchecked, because the lock guards both.
final class ExchangeCell: @unchecked Sendable {
  private let lock = Lock()
  private var exchange: (any TransportExchange)?
  private var isPaused = false

  func set(_ exchange: any TransportExchange) {
    let pauses = lock.withLock {
      self.exchange = exchange
      return isPaused
    }
    if pauses { exchange.pause() }
  }

  func pause() {
    let exchange = lock.withLock {
      isPaused = true
      return self.exchange
    }
    exchange?.pause()
  }
}
