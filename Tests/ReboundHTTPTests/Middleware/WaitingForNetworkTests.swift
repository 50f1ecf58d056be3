import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("WaitingForNetwork")
struct WaitingForNetworkTests {
  let reachability = ManualReachability(.offline)

  private func test(
    _ script: [ScriptedTransport.Step],
    limit: Duration = .seconds(30),
    repeatingLast: Bool = false,
    _ more: [any HTTPMiddleware] = []
  ) -> ClientUnderTest {
    ClientUnderTest(script, repeatingLast: repeatingLast, [WaitingForNetwork(reachability, atMost: limit)] + more)
  }

  private static func retrying(_ retries: Int, within budget: RetryBudget? = nil) -> Retrying {
    let policy = RetryPolicy<NetworkFailure>(
      clamping: retries,
      backoff: .constant(.seconds(1)),
      random: .fixed(0)
    )
    return Retrying(budget.map { policy.within($0) } ?? policy)
  }

  private func times(_ test: ClientUnderTest) -> [Duration] { test.transport.calls.map(\.time) }
  private func seconds(_ seconds: Int) -> VirtualTime { VirtualTime(nanoseconds: seconds * 1_000_000_000) }

  @Test("a call without a network waits for one, sends nothing meanwhile, and goes on when it is there")
  func waits() throws {
    let test = test([.offline, .ok(rome)])
    let recorder = test.send(Forecast(city: "Rome"))
    test.scheduler.advance(by: .seconds(10))
    expectEqual(test.transport.count, 1)
    #expect(recorder.completion == nil)
    reachability.current = .online
    try test.scheduler.run()
    expectEqual(recorder.values.count, 1)
    expectEqual(times(test), [.zero, .seconds(10)])
    expectEqual(test.log.attempts, [1, 2])
    expectEqual(test.log.waits, [.waits(atMost: .seconds(30)), .goesOn(after: .seconds(10))])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("a wait that somebody cuts off counts for the limit, and its failure stands before those that follow")
  func cutOff() throws {
    struct Impatient: HTTPMiddleware {
      var place: MiddlewarePlace { .retry }

      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        next(request)
          .protected(by: TimeoutPolicy.total(.seconds(20)), time: request.time) { _ in NetworkFailure(.serverError(503))
          }
          .catch { _ in next(request) }
          .eraseToAnyPublisher()
      }
    }
    let test = test([.offline], repeatingLast: true, [Impatient()])
    let recorder = try test.run(Anything())
    expectEqual(recorder.failure?.kind, .transport(.offline))
    expectEqual(recorder.completionTime, seconds(30))
    expectEqual(times(test), [.zero, .seconds(20)])
    expectEqual(
      test.log.waits,
      [
        .waits(atMost: .seconds(30)), .waits(atMost: .seconds(10)), .gaveUp(after: .seconds(10)),
      ]
    )
  }

  @Test("it waits no longer than its limit, and the failure passes on")
  func limit() throws {
    let test = test([.offline])
    let recorder = try test.run(Anything())
    expectEqual(recorder.failure?.kind, .transport(.offline))
    expectEqual(recorder.completionTime, seconds(30))
    expectEqual(recorder.failure?.earlier.isEmpty, true)
    expectEqual(test.log.waits, [.waits(atMost: .seconds(30)), .gaveUp(after: .seconds(30))])
    expectEqual(test.transport.count, 1)
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("a limit of nothing, or less, never waits", arguments: [Duration.zero, .seconds(-1)])
  func noLimit(limit: Duration) throws {
    let test = test([.offline], limit: limit)
    let recorder = try test.run(Anything())
    expectEqual(recorder.failure?.kind, .transport(.offline))
    expectEqual(recorder.completionTime, .start)
    #expect(test.log.waits.isEmpty)
  }

  @Test("the limit is for all waits of a call together, also with retries around them")
  func allTogether() throws {
    let test = test([.offline], repeatingLast: true, [Self.retrying(2)])
    let recorder = test.send(Anything())
    test.scheduler.advance(by: .seconds(20))
    reachability.current = .online
    reachability.current = .offline
    try test.scheduler.run()
    expectEqual(times(test), [.zero, .seconds(20), .seconds(31), .seconds(32)])
    expectEqual(test.log.attempts, [1, 2, 3, 4])
    expectEqual(recorder.failure?.kind, .transport(.offline))
    expectEqual(recorder.failure?.earlier.map(\.call.attempt), [1, 2, 3])
    expectEqual(recorder.completionTime, seconds(32))
  }

  @Test("a wait takes none of the retries, and nothing of their budget")
  func retries() throws {
    let budget = try RetryBudget.ratio(0, floor: 1)
    let test = test([.offline, .status(503), .ok(rome)], [Self.retrying(1, within: budget)])
    let recorder = test.send(Forecast(city: "Rome"))
    test.scheduler.advance(by: .seconds(10))
    expectEqual(budget.snapshot(on: test.scheduler.time).granted, 0)
    reachability.current = .online
    try test.scheduler.run()
    expectEqual(recorder.values.count, 1)
    expectEqual(times(test), [.zero, .seconds(10), .seconds(11)])
    expectEqual(test.log.attempts, [1, 2, 3])
    expectEqual(test.log.retries.map(\.outcome), [.retrying])
    expectEqual(budget.snapshot(on: test.scheduler.time).granted, 1)
  }

  @Test("what fails after a wait names what has failed before it")
  func earlier() throws {
    let test = test([.offline, .status(404)])
    let recorder = test.send(Anything())
    test.scheduler.advance(by: .seconds(10))
    reachability.current = .online
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, .notFound)
    expectEqual(recorder.failure?.call.attempt, 2)
    expectEqual(recorder.failure?.earlier.map(\.kind), [.transport(.offline)])
  }

  @Test(
    "all other failures pass on at once",
    arguments: [.refused, .failure(.dns), .reset, .timeout, .status(503), .status(511)] as [ScriptedTransport.Step]
  )
  func otherFailures(step: ScriptedTransport.Step) throws {
    let test = test([step])
    let recorder = try test.run(Anything())
    #expect(recorder.failure != nil)
    expectEqual(recorder.completionTime, .start)
    #expect(test.log.waits.isEmpty)
  }

  @Test("a failure although the network is there is tried once more, and does not go round and round")
  func spinning() throws {
    reachability.current = .online
    let test = test([.offline], repeatingLast: true)
    let recorder = try test.run(Anything())
    expectEqual(recorder.failure?.kind, .transport(.offline))
    expectEqual(recorder.completionTime, .start)
    expectEqual(test.transport.count, 2)
  }

  @Test("nor does one under a reachability that contradicts itself")
  func contradiction() throws {
    struct Contradicting: Reachability {
      let current = Connectivity.offline
      var connectivity: AnyPublisher<Connectivity, Never> { Just(Connectivity.online).eraseToAnyPublisher() }
    }
    let test = ClientUnderTest(
      [.offline],
      repeatingLast: true,
      [WaitingForNetwork(Contradicting(), atMost: .seconds(30))]
    )
    try expectEqual(test.run(Anything()).failure?.kind, .transport(.offline))
    expectEqual(test.transport.count, 4)
  }

  @Test("a network that has gone again within a moment is waited for once more")
  func flapping() throws {
    let test = test([.offline, .offline, .status(204)])
    let recorder = test.send(Anything())
    test.scheduler.advance(by: .milliseconds(500))
    reachability.current = .online
    reachability.current = .offline
    test.scheduler.advance(by: .seconds(5))
    reachability.current = .online
    try test.scheduler.run()
    #expect(recorder.isFinished)
    expectEqual(times(test), [.zero, .milliseconds(500), .milliseconds(5_500)])
  }

  @Test("the deadline of the call ends the wait, and its failure names what it waited for")
  func deadline() throws {
    let test = test([.offline])
    let recorder = try test.run(Anything(deadline: .seconds(5)))
    expectEqual(recorder.failure?.kind, .deadlineExceeded)
    expectEqual(recorder.failure?.earlier.map(\.kind), [.transport(.offline)])
    expectEqual(recorder.completionTime, seconds(5))
    reachability.current = .online
    expectEqual(test.transport.count, 1)
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("what cannot have reached a server is sent again, whatever its method; a stream that can be read once is not")
  func repeatable() throws {
    let once = RequestBody.stream(.once { _ in Data() }, contentType: "a/b")
    for (request, attempts) in [
      (Anything(method: .post, body: .form(["a": 1])), 2), (Anything(idempotency: .notIdempotent), 2),
      (Anything(method: .put, body: once), 1),
    ] {
      reachability.current = .offline
      let test = test([.offline, .status(204)])
      _ = test.send(request)
      test.scheduler.advance(by: .seconds(5))
      reachability.current = .online
      try test.scheduler.run()
      expectEqual(test.transport.count, attempts, "\(request.method)")
    }
  }

  @Test("a cancel ends the wait, and leaves no timer; the network's return sends nothing then")
  func cancel() throws {
    let test = test([.offline], repeatingLast: true)
    let recorder = test.send(Anything())
    test.scheduler.advance(by: .seconds(1))
    recorder.cancel()
    expectEqual(test.scheduler.pendingCount, 0)
    reachability.current = .online
    try test.scheduler.run()
    expectEqual(test.transport.count, 1)
    #expect(recorder.completion == nil)
  }

  @Test("nothing is sent before a value is requested, and one is enough, also behind a wait")
  func demand() throws {
    let test = test([.offline, .ok("second")])
    let recorder = Recorder<Data, NetworkFailure>(requesting: .none, on: test.scheduler)
    test.client.publisher(for: Anything()).subscribe(recorder)
    test.scheduler.advance(by: .seconds(5))
    expectEqual(test.transport.count, 0)
    recorder.request(.max(1))
    test.scheduler.advance(by: .seconds(5))
    reachability.current = .online
    try test.scheduler.run()
    expectEqual(recorder.values, [Data("second".utf8)])
    #expect(recorder.isFinished)
    expectEqual(times(test), [.seconds(5), .seconds(10)])
  }

  @Test("many calls wait side by side, and all go on when the network is there")
  func many() throws {
    let test = test(Array(repeating: .offline, count: 100) + [.status(204)], repeatingLast: true)
    let recorders = (0..<100).map { _ in test.send(Anything()) }
    test.scheduler.advance(by: .seconds(5))
    reachability.current = .online
    try test.scheduler.run()
    #expect(recorders.allSatisfy { $0.isFinished })
    expectEqual(test.transport.count, 200)
  }

  @Test("it stands inside of the retries and around the hedging, whatever order it is given in")
  func place() throws {
    let test = test(
      [],
      [
        Protecting(try .consecutive(5)), RateLimiting(try .fixedWindow(1, per: .seconds(1))), Hedging(), Retrying(),
      ]
    )
    expectEqual(
      "\(test.client)",
      """
      DeadlineLimit → Retrying(2) → WaitingForNetwork → Hedging(1) → Protecting → RateLimiting → Redirects(10) → \
      ScriptedTransport
      """
    )
  }
}

extension EventLog {
  var waits: [NetworkWaitEvent] { decisions.compactMap { $0 as? NetworkWaitEvent } }
}
