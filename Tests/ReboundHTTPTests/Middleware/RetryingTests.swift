import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Retrying")
struct RetryingTests {
  static let policy = RetryPolicy<NetworkFailure>(clamping: 3, backoff: .constant(.seconds(1)))

  static func times(_ test: ClientUnderTest) -> [Duration] { test.transport.calls.map(\.time) }

  @Test("sends again after a failure that is transient, and gives the response")
  func recovers() throws {
    let test = ClientUnderTest([.status(503), .timeout, .ok(rome)], [Retrying(Self.policy)])
    try expectEqual(test.run(Forecast(city: "Rome")).values.count, 1)
    expectEqual(Self.times(test), [.zero, .seconds(1), .seconds(2)])
    expectEqual(test.log.retries.map(\.attempt), [1, 2])
  }

  @Test("passes the last failure on, with those before it and the number of its attempt")
  func exhausted() throws {
    let test = ClientUnderTest([.status(503), .reset, .status(502), .status(500)], [Retrying(Self.policy)])
    let failure = try #require(try test.run(Forecast(city: "Rome")).failure)
    expectEqual(failure.kind, .serverError(500))
    expectEqual(failure.call.attempt, 4)
    expectEqual(failure.earlier.map(\.kind), [.serverError(503), .transport(.reset), .serverError(502)])
    expectEqual(failure.earlier.map(\.call.attempt), [1, 2, 3])
  }

  @Test("is asked on every failure: one that is not transient ends it")
  func stops() throws {
    let test = ClientUnderTest([.status(503), .status(400)], [Retrying(Self.policy)])
    try expectEqual(test.run(Forecast(city: "Rome")).failure?.kind, .badRequest)
    expectEqual(test.transport.count, 2)
  }

  @Test(
    "a request that is not idempotent is sent once, unless nothing can have been done",
    arguments: [
      (.status(503), 1), (.status(429, retryAfter: 1), 1), (.reset, 1), (.timeout, 1), (.status(425), 2), (.refused, 2),
      (.offline, 2), (.failure(.dns), 2), (.failure(.tls(.handshake)), 2), (.failure(.timeout(.connect)), 2),
    ] as [(ScriptedTransport.Step, Int)]
  )
  func idempotency(step: ScriptedTransport.Step, attempts: Int) throws {
    for method in [HTTPMethod.post, .patch] {
      let test = ClientUnderTest([step, .status(200)], [Retrying(Self.policy)])
      _ = try test.run(Anything(method: method, body: .form(["a": 1])))
      expectEqual(test.transport.count, attempts, "\(method)")
    }
    for idempotency in [Idempotency.idempotent, .key("k"), .generatedKey] {
      let test = ClientUnderTest([step, .status(200)], [Retrying(Self.policy)])
      _ = try test.run(Anything(method: .post, body: .form(["a": 1]), idempotency: idempotency))
      expectEqual(test.transport.count, 2, "\(idempotency)")
    }
    let test = ClientUnderTest([.status(503), .status(200)], [Retrying(Self.policy)])
    _ = try test.run(Anything(idempotency: .notIdempotent))
    expectEqual(test.transport.count, 1)
  }

  @Test(
    "a server that has acted, and then led on to what came of it, is not asked to act once more",
    arguments: [(303, 2), (302, 2), (301, 2), (307, 4), (308, 4)]
  )
  func redirectedRefusal(status: Int, sent: Int) throws {
    let script: [ScriptedTransport.Step] = [
      .redirect(status, to: "/v1/1"), .status(425), .redirect(status, to: "/v1/1"), .status(200),
    ]
    for method in [HTTPMethod.post, .patch] where method == .post || ![301, 302].contains(status) {
      let test = ClientUnderTest(script, [Retrying(Self.policy)])
      _ = try test.run(Anything(method: method, body: .form(["a": 1])))
      expectEqual(test.transport.count, sent, "\(method)")
    }
    let test = ClientUnderTest(script, [Retrying(Self.policy)])
    _ = try test.run(Anything(method: .post, body: .form(["a": 1]), idempotency: .idempotent))
    expectEqual(test.transport.count, 4)
  }

  @Test("nor is it if this program refuses to follow", arguments: [(303, 1), (307, 2)])
  func refusalBehindRedirect(status: Int, sent: Int) throws {
    struct Busy: HTTPMiddleware {
      let place = MiddlewarePlace.adaptation

      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        guard request.redirects > 0 else { return next(request) }
        return Fail(error: request.failure(.busy)).eraseToAnyPublisher()
      }
    }
    let test = ClientUnderTest([.redirect(status, to: "/v1/1"), .status(200)], [Retrying(Self.policy), Busy()])
    _ = try test.run(Anything(method: .post, body: .form(["a": 1])))
    expectEqual(test.transport.count, sent)
  }

  @Test("nor is it if middleware has made another failure of what a redirect has led to")
  func remadeFailure() throws {
    struct Remaking: HTTPMiddleware {
      let place = MiddlewarePlace.adaptation

      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        next(request)
          .mapError { failure in
            var failure = failure
            if let head = failure.head { failure.head = ResponseHead(status: head.status, url: head.url) }
            return failure
          }
          .eraseToAnyPublisher()
      }
    }
    let test = ClientUnderTest(
      [.redirect(303, to: "/v1/1"), .status(425), .status(200)],
      [Retrying(Self.policy), Remaking()]
    )
    _ = try test.run(Anything(method: .post, body: .form(["a": 1])))
    expectEqual(test.transport.count, 2)
  }

  @Test("the idempotency key and the request id are the same for all attempts, and differ between calls")
  func keys() throws {
    let test = ClientUnderTest([.status(503), .status(200), .status(200)], [Retrying(Self.policy)])
    let request = Anything(method: .post, body: .form(["a": 1]), idempotency: .generatedKey)
    _ = try test.run(request)
    _ = try test.run(request)
    let keys = test.transport.calls.map { $0.request.headers["Idempotency-Key"] }
    let ids = test.transport.calls.map { $0.request.headers["X-Request-ID"] }
    #expect(keys[0]?.count == 32 && keys[0] == keys[1] && keys[1] != keys[2])
    #expect(ids[0] == ids[1] && ids[1] != ids[2])
  }

  @Test("the pause that the server asks for is kept, longer pauses of the policy's own too")
  func retryAfterSeconds() throws {
    let test = ClientUnderTest(
      [.status(503, retryAfter: 0), .status(429, retryAfter: 5), .ok(rome)],
      [
        Retrying(RetryPolicy(clamping: 3, backoff: .constant(.seconds(1)), random: .fixed(0)))
      ]
    )
    _ = try test.run(Forecast(city: "Rome"))
    expectEqual(Self.times(test), [.zero, .seconds(1), .seconds(6)])
  }

  @Test("a date is measured against the server's own clock; the device's is an hour slow here")
  func retryAfterDate() throws {
    let headers: HTTPHeaders = [
      "Date": ClientUnderTest.serverDate(), "Retry-After": ClientUnderTest.serverDate(30),
    ]
    let test = ClientUnderTest(
      [.status(503, "", headers), .ok(rome)],
      [
        Retrying(RetryPolicy(clamping: 3, backoff: .constant(.seconds(1)), random: .fixed(0)))
      ]
    )
    _ = try test.run(Forecast(city: "Rome"))
    expectEqual(Self.times(test), [.zero, .seconds(30)])
  }

  @Test("a pause that is too long is not waited for, but told")
  func hintTooLong() throws {
    let test = ClientUnderTest([.status(503, retryAfter: 86_400)], [Retrying(Self.policy)])
    let failure = try test.run(Forecast(city: "Rome")).failure
    expectEqual(failure?.retryAfter, .seconds(86_400))
    expectEqual(failure?.recoverySuggestion, "Try again in 24 hours.")
    expectEqual(test.transport.count, 1)
  }

  @Test(
    "a 425 and a failed handshake are tried again once",
    arguments: [.status(425), .failure(.tls(.handshake))] as [ScriptedTransport.Step]
  )
  func once(step: ScriptedTransport.Step) throws {
    let test = ClientUnderTest([step], repeatingLast: true, [Retrying(Self.policy)])
    _ = try test.run(Forecast(city: "Rome"))
    expectEqual(test.transport.count, 2)
  }

  @Test("a body that can be read once is sent once")
  func onceOnlyBody() throws {
    for idempotency in [Idempotency.byMethod, .generatedKey] {
      let test = ClientUnderTest([.status(503), .status(200)], [Retrying(Self.policy)])
      let stream = BodyStream.once { _ in Data() }
      let recorder = try test.run(
        Anything(method: .put, body: .stream(stream, contentType: "a/b"), idempotency: idempotency)
      )
      let failure = try #require(recorder.failure)
      expectEqual(failure.kind, .serverError(503))
      expectEqual(test.transport.count, 1)
      expectEqual(failure.notRetriedBecause, .notReplayable)
      #expect("\(failure)".contains("; not tried again: not replayable"))
      expectEqual(test.log.retries.map(\.outcome), [.stopped(.notReplayable)])
    }
  }

  @Test(
    "the body is not what is in the way of a request that would not be sent again anyhow",
    arguments: [(.post, .status(503)), (.put, .status(400))] as [(HTTPMethod, ScriptedTransport.Step)]
  )
  func onceOnlyBodyOfNoMatter(method: HTTPMethod, step: ScriptedTransport.Step) throws {
    let test = ClientUnderTest([step], [Retrying(Self.policy)])
    let body = RequestBody.stream(BodyStream.once { _ in Data() }, contentType: "a/b")
    let failure = try #require(try test.run(Anything(method: method, body: body)).failure)
    expectEqual(failure.notRetriedBecause, .notRetryable)
  }

  @Test(
    "nor of one that the policy would not send again whatever its body",
    arguments: [Self.policy.when { $0.kind == .serverError(500) }, .never]
  )
  func onceOnlyBodyOfOtherPolicies(policy: RetryPolicy<NetworkFailure>) throws {
    let test = ClientUnderTest([.status(503)], [Retrying(policy)])
    let body = RequestBody.stream(BodyStream.once { _ in Data() }, contentType: "a/b")
    let failure = try #require(try test.run(Anything(method: .put, body: body)).failure)
    expectEqual(failure.notRetriedBecause, .notRetryable)
  }

  @Test("a policy for errors of any type has the same reason for it")
  func onceOnlyBodyOutside() throws {
    let test = ClientUnderTest([.status(503)])
    let events = ValueLog<RetryEvent.Outcome>()
    let recorder = Recorder<Data, any Error>()
    let body = RequestBody.stream(BodyStream.once { _ in Data() }, contentType: "a/b")
    test.client.publisher(for: Anything(method: .put, body: body))
      .mapError { $0 as any Error }
      .retry(RetryPolicy<any Error>(.http).onEvent { events.append($0.outcome) }, time: test.scheduler.time)
      .subscribe(recorder)
    try test.scheduler.run()
    expectEqual(events.values, [.stopped(.notReplayable)])
  }

  @Test("a file is sent again whole")
  func replayableBody() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try Data("content".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let test = ClientUnderTest([.status(503), .status(200)], [Retrying(Self.policy)])
    _ = try test.run(Anything(method: .put, body: .file(file)))
    expectEqual(test.transport.calls.map(\.body), [Data("content".utf8), Data("content".utf8)])
  }

  @Test("a cancel during the wait ends it: no later attempt")
  func cancelInWait() throws {
    let test = ClientUnderTest([.status(503), .ok(rome)], [Retrying(Self.policy)])
    let recorder = test.send(Forecast(city: "Rome"))
    test.scheduler.advance(by: 0.5)
    recorder.cancel()
    try test.scheduler.run()
    expectEqual(test.transport.count, 1)
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("a budget is shared by all calls, and the failure stays the server's")
  func budget() throws {
    let budget = try RetryBudget.ratio(0, floor: 1)
    let test = ClientUnderTest([.status(503)], repeatingLast: true, [Retrying(Self.policy.within(budget))])
    try expectEqual(test.run(Forecast(city: "Rome")).failure?.kind, .serverError(503))
    try expectEqual(test.run(Forecast(city: "Rome")).failure?.kind, .serverError(503))
    expectEqual(test.transport.count, 3)
    expectEqual(test.log.retries.last?.outcome, .stopped(.budgetExhausted))
  }

  @Test("each host has a budget of its own, so that one that is sick does not use up the retries of the others")
  func budgetsByHost() throws {
    let budgets = try Keyed<String, RetryBudget>.ratio(0, floor: 1)
    let policy = Self.policy.within(try .ratio(0, floor: 0))
    let test = ClientUnderTest([.status(503)], repeatingLast: true, [Retrying(policy, budgets: budgets)])
    for _ in 0..<2 { _ = try test.run(Anything()) }
    expectEqual(test.transport.count, 3)
    expectEqual(test.log.retries.last?.outcome, .stopped(.budgetExhausted))
    let other = Anything(baseURL: URL(string: "https://other.example:8443"))
    try expectEqual(test.run(other).failure?.kind, .serverError(503))
    expectEqual(test.transport.count, 5)
    let granted = ["api.example", "other.example:8443"].map {
      budgets.existing($0)?.snapshot(on: test.scheduler.time).granted
    }
    expectEqual(granted, [1, 1])
  }

  @Test("a whole call can be retried from outside, by the same rule")
  func outside() throws {
    let test = ClientUnderTest([.status(503), .ok(rome), .status(503)])
    let recorder = Recorder<Place, NetworkFailure>()
    test.client.publisher(for: Forecast(city: "Rome")).retry(.http, time: test.scheduler.time).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values.count, 1)
    let post = Recorder<Data, NetworkFailure>()
    test.client.publisher(for: Anything(method: .post, body: .form(["a": 1])))
      .retry(.http, time: test.scheduler.time).subscribe(post)
    try test.scheduler.run()
    expectEqual(post.failure?.kind, .serverError(503))
    expectEqual(test.transport.count, 3)
  }

  @Test("a generated key does not make a whole call one that may be retried from outside: the next has another")
  func generatedKeyOutside() throws {
    for (method, count) in [(HTTPMethod.post, 1), (.put, 2)] {
      let test = ClientUnderTest([.reset, .status(200)])
      let recorder = Recorder<Data, NetworkFailure>()
      test.client.publisher(for: Anything(method: method, body: .form(["a": 1]), idempotency: .generatedKey))
        .retry(.http, time: test.scheduler.time).subscribe(recorder)
      try test.scheduler.run()
      expectEqual(test.transport.count, count, "\(method)")
    }
    let test = ClientUnderTest([.reset, .status(503)], [Retrying(RetryPolicy(clamping: 1))])
    let request = Anything(method: .post, body: .form(["a": 1]), idempotency: .generatedKey)
    let failure = try #require(try test.run(request).failure)
    expectEqual(test.transport.count, 2)
    #expect(!failure.mayBeRepeated && !failure.isRetryable)
    let told: [NetworkFailure] = test.log.events.compactMap {
      if case .failed(let failure) = $0.kind { failure } else { nil }
    }
    expectEqual(told.map(\.mayBeRepeated), [false])
  }

  @Test(
    "nor does it if the last attempt cannot have arrived, but one before may have, however many followed",
    arguments: [1, 12]
  )
  func generatedKeyThenOffline(retries: Int) throws {
    let offline = [ScriptedTransport.Step](repeating: .offline, count: retries)
    let policy = RetryPolicy<NetworkFailure>(clamping: retries, backoff: .constant(.seconds(1)))
    let test = ClientUnderTest([.status(503)] + offline + [.status(200)], [Retrying(policy)])
    let request = Anything(method: .post, body: .form(["a": 1]), idempotency: .generatedKey)
    let failure = try #require(try test.run(request).failure)
    expectEqual(test.transport.count, retries + 1)
    expectEqual(failure.kind, .transport(.offline))
    #expect(!failure.mayBeRepeated)
  }

  @Test("retries around retries keep one history: no failure in it has one of its own")
  func layers() throws {
    let outer = RetryPolicy<NetworkFailure>(clamping: 60, backoff: .constant(.seconds(1)))
    let inner = RetryPolicy<NetworkFailure>(clamping: 2, backoff: .constant(.seconds(1)))
    let test = ClientUnderTest([.offline], repeatingLast: true, [Retrying(outer), Retrying(inner)])
    let failure = try #require(try test.run(Anything(method: .post, body: .form(["a": 1]))).failure)
    expectEqual(test.transport.count, 61 * 3)
    #expect(!failure.earlier.isEmpty)
    #expect(failure.earlier.allSatisfy { $0.earlier.isEmpty })
    #expect(failure.mayBeRepeated)
  }

  @Test("two subscribers of one publisher have attempts of their own")
  func perSubscription() throws {
    let test = ClientUnderTest([.status(503)], repeatingLast: true, [Retrying(Self.policy)])
    let publisher = test.client.publisher(for: Forecast(city: "Rome"))
    let recorders = (0..<2).map { _ in Recorder<Place, NetworkFailure>() }
    for recorder in recorders { publisher.subscribe(recorder) }
    try test.scheduler.run()
    expectEqual(recorders.map { $0.failure?.call.attempt }, [4, 4])
    expectEqual(test.transport.count, 8)
  }
}
