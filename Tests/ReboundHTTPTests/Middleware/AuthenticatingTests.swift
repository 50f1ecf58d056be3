import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Authenticating")
struct AuthenticatingTests {
  typealias Token = String

  /// A client with a session whose refreshes a test ends by hand.
  struct Session {
    let test: ClientUnderTest
    let refresher: TokenRefresher<Token>
    let refreshes = TestPublisher<Token, NetworkFailure>()

    init(_ script: [ScriptedTransport.Step], _ middleware: [any HTTPMiddleware] = []) {
      let refreshes = refreshes
      let refresher = TokenRefresher<Token>(
        rejectedWhen: { (failure: NetworkFailure) in failure.kind == .badRequest },
        refreshingWith: { _ in refreshes.eraseToAnyPublisher() }
      )
      self.refresher = refresher
      let bearer = Authenticating(with: refresher) { $0["Authorization"] = "Bearer \($1)" }
      test = ClientUnderTest(script, repeatingLast: true, [bearer] + middleware)
      // On the time of the client: a refresher takes no step back from the system's.
      refresher.signIn(with: "old", at: test.scheduler.elapsed)
    }

    var tokens: [String?] { test.transport.calls.map { $0.request.headers["Authorization"] } }

    func succeed() throws {
      refreshes.send("new")
      try test.scheduler.run()
    }
  }

  /// Refuses the old token.
  static let server = ScriptedTransport.Step.answering { request in
    request.headers["Authorization"] == "Bearer new" ? .ok(rome) : .status(401)
  }

  @Test("a hundred requests that are refused cause one refresh, and are each sent once more")
  func singleFlight() throws {
    let session = Session([Self.server])
    let recorders = (0..<100).map { session.test.send(Forecast(city: "\($0)")) }
    try session.test.scheduler.run()
    expectEqual(session.refreshes.subscriptionCount, 1)
    try session.succeed()
    #expect(recorders.allSatisfy { $0.values.count == 1 && $0.isFinished })
    expectEqual(session.test.transport.count, 200)
    expectEqual(session.refreshes.subscriptionCount, 1)
  }

  @Test(
    "a server that has acted, and then led on to where the credential is refused, is not asked to act once more",
    arguments: [
      (303, "https://files.example/1", .byMethod, 2), (303, "/v1/1", .byMethod, 2), (303, "/v1/1", .idempotent, 4),
      (307, "/v1/1", .byMethod, 4),
    ] as [(Int, String, Idempotency, Int)]
  )
  func refusedBehindRedirect(status: Int, location: String, idempotency: Idempotency, sent: Int) throws {
    let session = Session([
      .redirect(status, to: location), .status(401), .redirect(status, to: location), .status(401),
    ])
    let recorder = session.test.send(Anything(method: .post, body: .form(["a": 1]), idempotency: idempotency))
    try session.test.scheduler.run()
    try session.succeed()
    expectEqual(recorder.failure?.kind, .unauthorised)
    expectEqual(session.test.transport.count, sent)
    expectEqual(session.refreshes.subscriptionCount, sent / 4)
  }

  @Test("a server that has acted has, whatever becomes of a refresh behind it", arguments: [303, 307])
  func refreshBehindRedirect(status: Int) throws {
    let session = Session([.redirect(status, to: "/v1/1"), .status(401)])
    let order = Anything(method: .post, body: .form(["a": 1]), idempotency: .generatedKey)
    let recorder = session.test.send(order)
    try session.test.scheduler.run()
    let offline = TransportFailure(.offline)
    session.refreshes.send(completion: .failure(NetworkFailure(.transport(.offline), underlying: offline)))
    expectEqual(recorder.failure?.kind, .transport(.offline))
    // With another key than this call's, an order would be another.
    expectEqual(recorder.failure?.isRetryable, status == 307)
  }

  @Test("a second refusal passes on: no loop")
  func secondRefusal() throws {
    let session = Session([.status(401)])
    let recorder = session.test.send(Forecast(city: "Rome"))
    try session.test.scheduler.run()
    try session.succeed()
    expectEqual(recorder.failure?.kind, .unauthorised)
    expectEqual(session.tokens, ["Bearer old", "Bearer new"])
  }

  @Test("a server that refuses every token is told as that each time, in the same words")
  func everyTokenRefused() throws {
    let session = Session([.status(401)])
    var failures: [NetworkFailure] = []
    for number in 0..<9 {
      let recorder = session.test.send(Forecast(city: "Rome"))
      try session.test.scheduler.run()
      session.refreshes.send("new \(number)")
      try session.test.scheduler.run()
      failures.append(try #require(recorder.failure))
    }
    #expect(failures.allSatisfy { $0.kind == .unauthorised })
    let texts = failures.map { [$0.errorDescription, $0.recoverySuggestion] }
    expectEqual(Set(texts).count, 1)
    // No more than five are had in 30 s; after that each request is sent once.
    expectEqual(session.refreshes.subscriptionCount, 5)
    expectEqual(session.test.transport.count, 2 * 5 + 4)
    session.test.scheduler.advance(by: 31)
    _ = try session.test.run(Forecast(city: "Rome"))
    expectEqual(session.refreshes.subscriptionCount, 6)
  }

  @Test("a refresh that fails for the moment fails the request with its cause, and keeps the session")
  func transientRefreshFailure() throws {
    let session = Session([Self.server])
    let recorder = session.test.send(Forecast(city: "Rome"))
    try session.test.scheduler.run()
    session.refreshes.send(completion: .failure(NetworkFailure(.serverError(503), retryAfter: .seconds(9))))
    expectEqual(recorder.failure?.kind, .serverError(503))
    expectEqual(recorder.failure?.retryAfter, .seconds(9))
    expectEqual(recorder.failure?.call.operation, "Forecast")
    expectEqual(session.refresher.credential, "old")
  }

  @Test("a session that the server will not renew means to sign in, and no request is sent any more")
  func rejected() throws {
    let session = Session([Self.server])
    let recorder = session.test.send(Forecast(city: "Rome"))
    try session.test.scheduler.run()
    session.refreshes.send(completion: .failure(NetworkFailure(.badRequest)))
    expectEqual(recorder.failure?.kind, .unauthorised)
    let later = try session.test.run(Forecast(city: "Rome"))
    expectEqual(later.failure?.kind, .unauthorised)
    expectEqual(later.failure?.recoverySuggestion, "Sign in, and try again.")
    expectEqual(session.test.transport.count, 1)
  }

  @Test("a sign-out fails who waits, and what a late refresh brings is not sent")
  func signOut() throws {
    let session = Session([Self.server])
    let recorder = session.test.send(Forecast(city: "Rome"))
    try session.test.scheduler.run()
    session.refresher.signOut()
    expectEqual(recorder.failure?.kind, .unauthorised)
    try session.succeed()
    #expect(session.refresher.credential == nil)
    expectEqual(session.test.transport.count, 1)
  }

  @Test("a request that is not authenticated goes without, also while nobody is signed in")
  func unauthenticated() throws {
    let session = Session([.ok(rome)])
    session.refresher.signOut()
    #expect(try session.test.run(Anything(isAuthenticated: false)).isFinished)
    expectEqual(session.tokens, [nil])
  }

  @Test("the user's credential goes to no other service, whose 401 renews nothing, unless the client trusts it")
  func otherService() throws {
    let session = Session([.status(401)])
    let other = Anything(baseURL: URL(string: "https://other.example"))
    try expectEqual(session.test.run(other).failure?.kind, .unauthorised)
    expectEqual(session.tokens, [nil])
    expectEqual(session.refreshes.subscriptionCount, 0)
    var client = session.test.client
    client.trustedOrigins = [try #require(other.baseURL)]
    let recorder = Recorder<Data, NetworkFailure>(on: session.test.scheduler)
    client.publisher(for: other).subscribe(recorder)
    try session.test.scheduler.run()
    expectEqual(session.tokens, [nil, "Bearer old"])
  }

  @Test("a 401 is no vote in the breaker, and the refresh is inside the retries")
  func order() throws {
    let breaker = try CircuitBreaker(
      "api",
      policy: CircuitBreakerPolicy(consecutiveFailures: 1),
      failingWhen: NetworkFailure.speaksAgainstService
    )
    let session = Session(
      [Self.server],
      [
        Protecting(with: breaker), Retrying(RetryPolicy(clamping: 3, backoff: .immediate)),
      ]
    )
    let recorder = session.test.send(Forecast(city: "Rome"))
    try session.test.scheduler.run()
    try session.succeed()
    expectEqual(recorder.values.count, 1)
    expectEqual(breaker.state, .closed)
    #expect(session.test.log.retries.isEmpty)
  }

  @Test("a body that can be read once is not sent a second time")
  func onceOnly() throws {
    let session = Session([.status(401)])
    let request = Anything(method: .post, body: .stream(.once { _ in Data() }, contentType: "a/b"))
    let recorder = try session.test.run(request)
    expectEqual(recorder.failure?.kind, .unauthorised)
    expectEqual(session.refreshes.subscriptionCount, 0)
  }

  @Test("a token with a line break in it is not sent")
  func badToken() throws {
    let session = Session([.ok(rome)])
    session.refresher.signIn(with: "a\r\nX-Evil: b")
    try expectEqual(session.test.run(Forecast(city: "Rome")).failure?.kind, .invalidRequest)
    expectEqual(session.test.transport.count, 0)
  }
}
