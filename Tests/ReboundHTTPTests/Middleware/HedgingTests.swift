import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Hedging")
struct HedgingTests {
  /// A hedge after two seconds.
  static func hedging(within budget: RetryBudget? = nil) throws -> Hedging {
    let policy = try HedgePolicy<NetworkFailure>(delay: .after(.seconds(2)))
    return Hedging(budget.map { policy.within($0) } ?? policy)
  }

  static func times(_ test: ClientUnderTest) -> [Duration] { test.transport.calls.map(\.time) }
  static func cancelled(_ test: ClientUnderTest) -> [Bool] { test.transport.calls.map(\.isCancelled) }

  private func seconds(_ seconds: Int) -> VirtualTime { VirtualTime(nanoseconds: seconds * 1_000_000_000) }

  @Test("a slow attempt gets a second one beside it, the first answer is taken, and the other attempt is cancelled")
  func slow() throws {
    let test = ClientUnderTest(
      [.ok("first").after(.seconds(10)), .ok("second").after(.seconds(1))],
      [try Self.hedging()]
    )
    let recorder = try test.runDetailed(Anything())
    expectEqual(recorder.values.map(\.value), [Data("second".utf8)])
    expectEqual(recorder.values.map(\.answer.attempt), [2])
    expectEqual(recorder.completionTime, seconds(3))
    expectEqual(Self.times(test), [.zero, .seconds(2)])
    expectEqual(Self.cancelled(test), [true, false])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("each hedge is an attempt to who watches, with a number of its own, and what is decided is told")
  func events() throws {
    let test = ClientUnderTest([.silence, .status(204).after(.seconds(1))], [try Self.hedging()])
    _ = try test.run(Anything())
    expectEqual(test.log.attempts, [1, 2])
    expectEqual(test.log.hedges.map(\.word), ["begins", "hedge_won"])
    #expect(test.log.lines.contains { $0.contains("hedge: hedge 1 begins after 2.0 seconds") })
  }

  @Test("a quick attempt stays alone")
  func quick() throws {
    let test = ClientUnderTest([.ok("first").after(.seconds(1))], [try Self.hedging()])
    try expectEqual(test.run(Anything()).values, [Data("first".utf8)])
    expectEqual(test.transport.count, 1)
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test(
    "what may be under way twice is hedged",
    arguments: [
      Anything(), Anything(method: .head), Anything(method: .put),
      Anything(method: .put, body: .form(["a": 1])),
    ]
  )
  func hedged(request: Anything) throws {
    let test = ClientUnderTest([.silence, .status(204)], [try Self.hedging()])
    #expect(try test.run(request).isFinished)
    expectEqual(Self.times(test), [.zero, .seconds(2)])
  }

  @Test(
    "all else is passed on as it is, whatever the policy says: writes that are not idempotent, also with a key, and streams",
    arguments: [
      Anything(method: .post), Anything(method: .patch), Anything(method: .post, idempotency: .idempotent),
      Anything(method: .post, idempotency: .key("k")), Anything(method: .post, idempotency: .generatedKey),
      Anything(method: .put, idempotency: .key("k")), Anything(idempotency: .notIdempotent),
      Anything(method: .put, idempotency: .notIdempotent), Anything(method: .delete),
      Anything(method: .put, body: .file(URL(filePath: #filePath), contentType: "a/b")),
      Anything(method: .put, body: .stream(.once { _ in Data() }, contentType: "a/b")),
      Anything(method: .put, body: .stream(BodyStream { throw CancellationError() }, contentType: "a/b")),
    ]
  )
  func notHedged(request: Anything) throws {
    let test = ClientUnderTest([.status(204).after(.seconds(10))], repeatingLast: true, [try Self.hedging()])
    #expect(try test.run(request).isFinished)
    expectEqual(test.transport.count, 1)
    #expect(test.log.hedges.isEmpty)
  }

  @Test("neither is what goes elsewhere than into memory: two would write to one place")
  func download() throws {
    let test = ClientUnderTest([.ok("first").after(.seconds(10))], repeatingLast: true, [try Self.hedging()])
    let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
    test.client.chunks(for: Anything()).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values, [Data("first".utf8)])
    expectEqual(test.transport.count, 1)
  }

  @Test("an attempt that fails in a way that is worth another gets it at once")
  func afterFailure() throws {
    let test = ClientUnderTest([.reset, .ok("second")], [try Self.hedging()])
    try expectEqual(test.run(Anything()).values, [Data("second".utf8)])
    expectEqual(Self.times(test), [.zero, .zero])
  }

  @Test("a failure that is not worth another ends the whole at once")
  func fatal() throws {
    let test = ClientUnderTest([.status(404).after(.seconds(3)), .silence], [try Self.hedging()])
    let recorder = try test.run(Anything())
    expectEqual(recorder.failure?.kind, .notFound)
    expectEqual(recorder.completionTime, seconds(3))
    expectEqual(Self.cancelled(test), [false, true])
  }

  @Test(
    "when all fail, the failure is the last one, with the others before it and the longest pause that was asked for"
  )
  func exhausted() throws {
    for isFirst in [true, false] {
      let asking = ScriptedTransport.Step.status(503, retryAfter: 30)
      let other = ScriptedTransport.Step.status(502)
      let test = ClientUnderTest(
        [(isFirst ? asking : other).after(.seconds(5)), (isFirst ? other : asking).after(.seconds(1))],
        [try Self.hedging()]
      )
      let recorder = try test.run(Anything())
      let failure = try #require(recorder.failure)
      expectEqual(recorder.completionTime, seconds(5))
      expectEqual(failure.kind, .serverError(isFirst ? 503 : 502))
      expectEqual(failure.call.attempt, 1)
      expectEqual(failure.earlier.map(\.kind), [.serverError(isFirst ? 502 : 503)])
      expectEqual(failure.earlier.map(\.call.attempt), [2])
      expectEqual(failure.retryAfter, .seconds(30))
    }
  }

  @Test(
    "what another attempt at once cannot mend begins none",
    arguments: [
      .status(503, retryAfter: 1), .offline, .status(425), .failure(.tls(.handshake)),
    ] as [ScriptedTransport.Step]
  )
  func notAtOnce(step: ScriptedTransport.Step) throws {
    let test = ClientUnderTest([step, .status(204)], [try Self.hedging()])
    #expect(try test.run(Anything()).failure != nil)
    expectEqual(test.transport.count, 1)
  }

  @Test("a hedge that a limit of this program refuses ends nothing that is under way")
  func refusedHedge() throws {
    let test = ClientUnderTest(
      [.ok("first").after(.seconds(5))],
      [RateLimiting(try .fixedWindow(1, per: .seconds(60))), try Self.hedging()]
    )
    try expectEqual(test.run(Anything()).values, [Data("first".utf8)])
    expectEqual(test.transport.count, 1)
  }

  @Test("within retries each attempt may be hedged; no two have one number, and all that failed are named")
  func withinRetries() throws {
    let retrying = Retrying(RetryPolicy(clamping: 1, backoff: .constant(.seconds(1)), random: .fixed(0)))
    let test = ClientUnderTest(
      [
        .status(503).after(.seconds(3)), .status(502).after(.seconds(2)), .status(500).after(.seconds(1)), .status(404),
      ],
      [try Self.hedging(), retrying]
    )
    let failure = try #require(try test.run(Anything()).failure)
    expectEqual(Self.times(test), [.zero, .seconds(2), .seconds(5), .seconds(6)])
    expectEqual(test.log.attempts, [1, 2, 3, 4])
    expectEqual(test.log.retries.count, 2)
    expectEqual(failure.kind, .notFound)
    expectEqual(failure.call.attempt, 4)
    expectEqual(failure.earlier.map(\.kind), [.serverError(503), .serverError(502), .serverError(500)])
    expectEqual(failure.earlier.map(\.call.attempt), [1, 2, 3])
  }

  @Test("a budget that grants nothing allows no hedge")
  func budget() throws {
    let budget = try RetryBudget.ratio(0, floor: 0)
    let test = ClientUnderTest([.ok("first").after(.seconds(5))], [try Self.hedging(within: budget)])
    try expectEqual(test.run(Anything()).values, [Data("first".utf8)])
    expectEqual(test.transport.count, 1)
    expectEqual(test.log.hedges.map(\.word), ["budget_exhausted", "first_won"])
  }

  @Test("the deadline of the call ends all attempts; its failure names what has failed before")
  func deadline() throws {
    let test = ClientUnderTest([.reset.after(.seconds(1)), .silence], [try Self.hedging()])
    let recorder = try test.run(Anything(deadline: .seconds(4)))
    expectEqual(recorder.failure?.kind, .deadlineExceeded)
    expectEqual(recorder.failure?.earlier.map(\.kind), [.transport(.reset)])
    expectEqual(recorder.completionTime, seconds(4))
    expectEqual(Self.cancelled(test), [false, true])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("nothing is sent, and nothing is late, before a value is requested; one is enough")
  func demand() throws {
    let test = ClientUnderTest([.silence, .ok("second")], [try Self.hedging()])
    let recorder = Recorder<Data, NetworkFailure>(requesting: .none, on: test.scheduler)
    test.client.publisher(for: Anything()).subscribe(recorder)
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.transport.count, 0)
    recorder.request(.max(1))
    try test.scheduler.run()
    expectEqual(Self.times(test), [.seconds(10), .seconds(12)])
    expectEqual(recorder.values, [Data("second".utf8)])
    #expect(recorder.isFinished)
    expectEqual(recorder.demand.excess, 0)
  }

  @Test("a cancel ends all attempts, and none begins after it")
  func cancel() throws {
    for wait in [1, 3] {
      let test = ClientUnderTest([.silence], repeatingLast: true, [try Self.hedging()])
      let recorder = test.send(Anything())
      test.scheduler.advance(by: .seconds(wait))
      recorder.cancel()
      expectEqual(test.scheduler.pendingCount, 0)
      try test.scheduler.run()
      expectEqual(Self.cancelled(test), Array(repeating: true, count: wait == 1 ? 1 : 2))
    }
  }
}

extension EventLog {
  /// The numbers of the attempts, in the order in which they began.
  var attempts: [Int] {
    events.compactMap { if case .attemptBegan(let number, _) = $0.kind { number } else { nil } }
  }

  var decisions: [any PolicyDecision] {
    events.compactMap { if case .decided(let decision) = $0.kind { decision } else { nil } }
  }

  var hedges: [HedgeEvent] { decisions.compactMap { $0 as? HedgeEvent } }
}
