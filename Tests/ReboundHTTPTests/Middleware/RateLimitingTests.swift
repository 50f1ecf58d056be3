import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("RateLimiting")
struct RateLimitingTests {
  static func times(_ test: ClientUnderTest) -> [Duration] { test.transport.calls.map(\.time) }

  static func limiter(_ policy: RateLimiterPolicy) -> RateLimiter {
    RateLimiter("api", policy: policy, throttledWhen: NetworkFailure.asksForFewerCalls)
  }

  /// One each second; the others wait.
  static func oneEachSecond() throws -> RateLimiterPolicy {
    try .tokenBucket(1, per: .seconds(1)).waiting(atMost: .seconds(60))
  }

  @Test("calls begin in turn, at the rate that is allowed")
  func rate() throws {
    let test = ClientUnderTest([.status(204)], repeatingLast: true, [RateLimiting(try Self.oneEachSecond())])
    let recorders = (0..<3).map { _ in test.send(Anything()) }
    try test.scheduler.run()
    expectEqual(Self.times(test), [.zero, .seconds(1), .seconds(2)])
    #expect(recorders.allSatisfy { $0.isFinished })
  }

  @Test("what may not wait is refused, is told when to come back, and is not sent; who watches hears of it")
  func refused() throws {
    let test = ClientUnderTest(
      [.status(204)],
      repeatingLast: true,
      [RateLimiting(try .fixedWindow(1, per: .seconds(60)))]
    )
    _ = test.send(Anything())
    let failure = try #require(try test.run(Anything()).failure)
    expectEqual(failure.kind, .rateLimited)
    expectEqual(failure.retryAfter, .seconds(60))
    #expect(failure.underlying is RateLimited)
    #expect(failure.provesNothingWasDone)
    expectEqual(test.transport.count, 1)
    expectEqual(test.log.decisions.map { $0 as? RateLimiterEvent }, [.rejected(retryAfter: .seconds(60))])
  }

  @Test(
    "one answer that asks for a pause is for all calls to its host, and for no other",
    arguments: [429, 503]
  )
  func pause(status: Int) throws {
    let policy = try RateLimiterPolicy.tokenBucket(100, per: .seconds(1)).waiting(atMost: .seconds(60))
    let test = ClientUnderTest(
      [.status(status, retryAfter: 5), .status(204)],
      repeatingLast: true,
      [RateLimiting(policy)]
    )
    let first = test.send(Anything())
    test.scheduler.advance(by: .seconds(1))
    expectEqual(first.failure?.status, status)
    let others = (0..<2).map { _ in test.send(Anything()) }
    let elsewhere = test.send(Anything(baseURL: URL(string: "https://other.example")))
    test.scheduler.advance(by: .seconds(3))
    #expect(elsewhere.isFinished)
    expectEqual(test.transport.count, 2)
    try test.scheduler.run()
    #expect(others.allSatisfy { $0.isFinished })
    expectEqual(Self.times(test), [.zero, .seconds(1), .seconds(5), .seconds(5)])
  }

  @Test(
    "what says that there were too many calls lowers the rate, with a pause or without",
    arguments: [
      (.status(429), true), (.status(429, retryAfter: 1), true), (.status(503, retryAfter: 1), true),
      (.status(503), false), (.status(404), false), (.reset, false), (.offline, false),
    ] as [(ScriptedTransport.Step, Bool)]
  )
  func lowered(step: ScriptedTransport.Step, isLowered: Bool) throws {
    let limiter = Self.limiter(try .tokenBucket(10, per: .seconds(1)))
    let test = ClientUnderTest([step], [RateLimiting(with: limiter)])
    _ = try test.run(Anything())
    expectEqual(limiter.snapshot.share < 1, isLowered)
  }

  @Test("what this program has refused itself says nothing of the service; another client's 429 does")
  func ownRefusals() {
    let refusals: [NetworkFailure.Kind] = [.rateLimited, .busy, .circuitOpen]
    for kind in refusals {
      #expect(!NetworkFailure.asksForFewerCalls(NetworkFailure(kind, retryAfter: .seconds(1))))
    }
    #expect(!NetworkFailure.asksForFewerCalls(RateLimited(name: "api", retryAfter: .seconds(1), queued: 0)))
    #expect(!NetworkFailure.asksForFewerCalls(CancellationError()))
    #expect(NetworkFailure.asksForFewerCalls(NetworkFailure(.tooManyRequests)))
  }

  @Test("a retry takes a turn of its own")
  func retry() throws {
    let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1)), random: .fixed(0)))
    let policy = try RateLimiterPolicy.tokenBucket(1, per: .seconds(10)).waiting(atMost: .seconds(60))
    let test = ClientUnderTest([.status(503), .status(204)], [RateLimiting(policy), retrying])
    #expect(try test.run(Anything()).isFinished)
    expectEqual(Self.times(test), [.zero, .seconds(10)])
  }

  @Test("a refusal is retried when its time has come")
  func retriedRefusal() throws {
    let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1)), random: .fixed(0)))
    let test = ClientUnderTest(
      [.status(204)],
      repeatingLast: true,
      [RateLimiting(try .fixedWindow(1, per: .seconds(4))), retrying]
    )
    _ = test.send(Anything())
    // Also one that is not idempotent: nothing of it was sent.
    #expect(try test.run(Anything(method: .post)).isFinished)
    expectEqual(Self.times(test), [.zero, .seconds(4)])
  }

  @Test("one that is cancelled while it waits, or whose time is over, gives its place to the next")
  func abandoned() throws {
    let test = ClientUnderTest([.status(204)], repeatingLast: true, [RateLimiting(try Self.oneEachSecond())])
    _ = test.send(Anything())
    let second = test.send(Anything())
    let third = test.send(Anything(deadline: .milliseconds(500)))
    let fourth = test.send(Anything())
    second.cancel()
    try test.scheduler.run()
    #expect(second.completion == nil)
    expectEqual(third.failure?.kind, .deadlineExceeded)
    #expect(fourth.isFinished)
    expectEqual(Self.times(test), [.zero, .seconds(1)])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("given a collection or a policy, each host has a limiter of its own, which has its name")
  func perHost() throws {
    let log = ValueLog<String>()
    let policy = try RateLimiterPolicy.fixedWindow(1, per: .seconds(60))
    let limiters = Keyed<String, RateLimiter> { host in
      log.append(host)
      return Self.limiter(policy)
    }
    let test = ClientUnderTest([.status(204)], repeatingLast: true, [RateLimiting(with: limiters)])
    _ = try test.run(Anything())
    _ = try test.run(Anything(baseURL: URL(string: "https://other.example:8443")))
    try expectEqual(test.run(Anything()).failure?.kind, .rateLimited)
    expectEqual(log.values, ["api.example", "other.example:8443"])
    expectEqual(test.transport.count, 2)
    let events = ValueLog<RateLimiterEvent>()
    let watched = ClientUnderTest([.status(204)], [RateLimiting(policy) { events.append($0) }])
    _ = try watched.run(Anything())
    let refusal = try #require(try watched.run(Anything()).failure?.underlying as? RateLimited)
    expectEqual(refusal.name, "api.example")
    expectEqual(events.values, [.admitted, .rejected(retryAfter: .seconds(60))])
  }

  @Test("calls that begin on many threads at once are no more than allowed")
  func concurrent() throws {
    let test = ClientUnderTest(
      [.status(204)],
      repeatingLast: true,
      [RateLimiting(try .fixedWindow(50, per: .seconds(60)))]
    )
    let client = test.client
    let refusals = ValueLog<NetworkFailure.Kind>()
    DispatchQueue.concurrentPerform(iterations: 200) { _ in
      let recorder = Recorder<Data, NetworkFailure>()
      client.publisher(for: Anything()).subscribe(recorder)
      if let failure = recorder.failure { refusals.append(failure.kind) }
    }
    expectEqual(test.transport.count, 50)
    expectEqual(refusals.values, Array(repeating: .rateLimited, count: 150))
  }
}
