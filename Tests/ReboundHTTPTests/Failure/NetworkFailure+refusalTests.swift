import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("NetworkFailure for what a policy refuses")
struct NetworkFailureRefusalTests {
  private struct Unknown: Error {}

  private static let checkpoint = Checkpoint(name: "here")

  @Test(
    "each refusal is a kind of its own, with the refusal in it and the pause that it asks for",
    arguments: [
      (CircuitOpen(name: "api", retryAfter: .seconds(7)), .circuitOpen, .seconds(7)),
      (Throttled(name: "api", refusalProbability: 0.9), .circuitOpen, nil),
      (RetriesSuspended(name: "api"), .circuitOpen, nil),
      (BulkheadFull(name: "api", limit: 1, queued: 0), .busy, nil),
      (RateLimited(name: "api", retryAfter: .seconds(7), queued: 0), .rateLimited, .seconds(7)),
      (TimedOut(.total, limit: .seconds(1)), .deadlineExceeded, nil),
      (TimedOut(.attempt, limit: .seconds(1)), .transport(.timeout(.total)), nil),
      (TimedOut(.firstValue, limit: .seconds(1)), .transport(.timeout(.idle)), nil),
      (TimedOut(.betweenValues, limit: .seconds(1)), .transport(.timeout(.idle)), nil),
      (TokenRefreshFailure(reason: .signedOut), .unauthorised, nil),
      (TokenRefreshFailure(reason: .rejected), .unauthorised, nil),
      (TokenRefreshFailure(reason: .tooManyRefreshes, retryAfter: .seconds(7)), .unauthorised, .seconds(7)),
      (TokenRefreshFailure(reason: .failed, underlying: Unknown(), retryAfter: .seconds(7)), .other, .seconds(7)),
      (
        FallbackFailed(failure: Unknown(), original: RateLimited(name: "api", retryAfter: .seconds(7), queued: 0)),
        .rateLimited, .seconds(7)
      ),
      (FallbackFailed(failure: Unknown(), original: NetworkFailure(.notFound)), .notFound, nil),
      (CancellationError(), .cancelled, nil),
      (Unknown(), .other, nil),
    ] as [(any Error, NetworkFailure.Kind, Duration?)]
  )
  func kinds(error: any Error, kind: NetworkFailure.Kind, pause: Duration?) async {
    let failure = NetworkFailure(refusal: error)
    expectEqual(failure.kind, kind)
    expectEqual(failure.retryAfter, pause)
    expectEqual(failure.underlying.map { type(of: $0) == type(of: error) }, true)
    expectEqual(failure.errorDescription?.isEmpty, false)
    // A cancel is not traced.
    let traced = await #expect(throws: (any Error).self) { try await Self.checkpoint.run { throw error } }
    expectEqual(traced.map { NetworkFailure(refusal: $0).kind }, kind)
  }

  @Test("what another client throws has its verdict, and counts as not idempotent")
  func foreign() throws {
    let reset = NetworkFailure(refusal: URLError(.networkConnectionLost))
    expectEqual(reset.kind, .transport(.reset))
    #expect(reset.transport?.underlying is URLError)
    #expect(!reset.isRetryable)
    let tooLarge = NetworkFailure(refusal: TransportFailure(.tooLarge, responseLimit: 7))
    expectEqual(tooLarge.kind, .transport(.tooLarge))
    expectEqual(tooLarge.transport?.responseLimit, 7)
    #expect(NetworkFailure(refusal: TransportFailure(.connect)).isRetryable)
  }

  @Test("a failure of a call stays what it is")
  func own() throws {
    let failure = NetworkFailure(.notFound, call: .init(operation: "Forecast"))
    expectEqual(NetworkFailure(refusal: failure).call.operation, "Forecast")
  }

  @Test("what a refresh has failed with for the moment is what the call fails with")
  func refresh() {
    let cause = NetworkFailure(
      .serverError(503),
      head: ResponseHead(status: 503, url: .service),
      retryAfter: .seconds(1)
    )
    let failure = NetworkFailure(
      refusal: TokenRefreshFailure(reason: .failed, underlying: cause, retryAfter: .seconds(9))
    )
    expectEqual(failure.kind, .serverError(503))
    expectEqual(failure.status, 503)
    expectEqual(failure.retryAfter, .seconds(9))
  }

  @Test(
    "what was not let in may be sent again, whatever it is; what was cut off may not, since nobody knows what it was",
    arguments: [
      (BulkheadFull(name: "api", limit: 1, queued: 0), true),
      (RateLimited(name: "api", retryAfter: .seconds(7), queued: 0), true),
      (CircuitOpen(name: "api", retryAfter: .seconds(7)), false),
      (TimedOut(.attempt, limit: .seconds(1)), false),
      (TimedOut(.total, limit: .seconds(1)), false),
      (TokenRefreshFailure(reason: .tooManyRefreshes), false),
    ] as [(any Error, Bool)]
  )
  func retryable(error: any Error, isRetryable: Bool) {
    expectEqual(NetworkFailure(refusal: error).isRetryable, isRetryable)
  }

  @Test(
    "these speak against the service",
    arguments: [
      (TimedOut(.attempt, limit: .seconds(1)), true), (TimedOut(.total, limit: .seconds(1)), true), (Unknown(), true),
      (NetworkFailure(.serverError(500)), true), (NetworkFailure(.transport(.timeout(.idle))), true),
      (NetworkFailure(.deadlineExceeded), true),
      (BulkheadFull(name: "api", limit: 1, queued: 0), false),
      (RateLimited(name: "api", retryAfter: .seconds(7), queued: 0), false),
      (CircuitOpen(name: "api", retryAfter: .seconds(7)), false), (TokenRefreshFailure(reason: .failed), false),
      (CancellationError(), false), (NetworkFailure(.other), false), (NetworkFailure(.clientError(408)), false),
      (NetworkFailure(.tooManyRequests), false), (NetworkFailure(.notFound), false),
    ] as [(any Error, Bool)]
  )
  func speaksAgainstService(error: any Error, speaks: Bool) {
    expectEqual(NetworkFailure.speaksAgainstService(error), speaks)
  }

  // MARK: Around a client

  private func end<P: Publisher<Place, NetworkFailure>>(_ publisher: P, _ test: ClientUnderTest) throws
    -> NetworkFailure?
  {
    let recorder = Recorder<Place, NetworkFailure>(on: test.scheduler)
    publisher.subscribe(recorder)
    try test.scheduler.run()
    return recorder.failure
  }

  @Test("a breaker, a bulkhead, a limiter and a timeout stand around a call without a closure")
  func around() throws {
    let test = ClientUnderTest([.status(500), .silence, .silence], repeatingLast: true)
    let time = test.scheduler.time
    let call = test.client.publisher(for: Forecast(city: "Rome"))
    let breaker = CircuitBreaker("api", policy: try .consecutive(1, openFor: .seconds(30)))
    try expectEqual(end(call.protected(by: breaker, time: time), test)?.kind, .serverError(500))
    let open = try end(call.protected(by: breaker, time: time), test)
    expectEqual(open?.kind, .circuitOpen)
    expectEqual(open?.retryAfter, .seconds(30))
    expectEqual(test.transport.count, 1)

    let bulkhead = Bulkhead("api", policy: try BulkheadPolicy(maxConcurrent: 1))
    let first = Recorder<Place, NetworkFailure>(on: test.scheduler)
    call.limited(by: bulkhead, time: time).subscribe(first)
    try expectEqual(end(call.limited(by: bulkhead, time: time), test)?.kind, .busy)
    first.cancel()

    let limiter = RateLimiter("api", policy: try .fixedWindow(1, per: .seconds(60)))
    let second = Recorder<Place, NetworkFailure>(on: test.scheduler)
    call.rateLimited(by: limiter, time: time).subscribe(second)
    let limited = try end(call.rateLimited(by: limiter, time: time), test)
    expectEqual(limited?.kind, .rateLimited)
    expectEqual(limited?.retryAfter.map { $0 > .zero && $0 <= .seconds(60) }, true)
    second.cancel()

    try expectEqual(end(call.timeout(.attempt(.seconds(3)), time: time), test)?.kind, .transport(.timeout(.total)))
  }
}

@Suite("Retry(.http) in a pipeline")
struct RetryHTTPInPipelineTests {
  private func run<Stages: PipelineStage>(
    _ script: [ScriptedTransport.Step],
    _ request: Anything,
    @PipelineBuilder<Data> _ stages: () throws -> Stages
  ) throws -> (calls: Int, failure: (any Error)?) where Stages.Output == Data {
    let test = ClientUnderTest(script, repeatingLast: true)
    let pipeline = try Pipeline<Data>("api", time: test.scheduler.time, stages: stages)
    let recorder = Recorder<Data, any Error>(on: test.scheduler)
    test.client.publisher(for: request).protected(by: pipeline).subscribe(recorder)
    try test.scheduler.run()
    return (test.transport.count, recorder.failure)
  }

  @Test("tries again what may be sent again, and nothing else, and the failure stays the call's")
  func retries() throws {
    let transient = try run([.status(503)], Anything()) { Retry(.http) }
    expectEqual(transient.calls, 3)
    expectEqual((transient.failure as? NetworkFailure)?.kind, .serverError(503))
    try expectEqual(run([.status(404)], Anything()) { Retry(.http) }.calls, 1)
    try expectEqual(run([.status(503)], Anything(method: .post)) { Retry(.http) }.calls, 1)
    let budget = try RetryBudget.ratio(0, floor: 1)
    try expectEqual(run([.status(503)], Anything()) { Retry(.http, budget: budget) }.calls, 2)
  }

  @Test("leaves a circuit alone that opens meanwhile, and waits for a limiter as long as that asks")
  func refusals() throws {
    let open = try run([.status(503)], Anything()) {
      Retry(.http)
      try CircuitBreakerPolicy.consecutive(2)
    }
    expectEqual(open.calls, 2)
    #expect(open.failure is CircuitOpen)
    let limiter = RateLimiter("api", policy: try .fixedWindow(1, per: .seconds(60)))
    let limited = try run([.status(503)], Anything()) {
      Retry(.http)
      limiter
    }
    expectEqual(limited.calls, 2)
  }

  @Test("an async function is tried again by the same rule")
  func asynchronous() async throws {
    let pipeline = try Pipeline<Int>("api", time: ImmediateTestScheduler().time) { Retry(.http) }
    let calls = Tally()
    await #expect(throws: NetworkFailure.self) {
      try await pipeline.run {
        calls.add()
        throw NetworkFailure(.serverError(503))
      }
    }
    expectEqual(calls.count, 3)
    await #expect(throws: CancelledByHand.self) {
      try await pipeline.run {
        calls.add()
        throw CancelledByHand()
      }
    }
    expectEqual(calls.count, 4)
  }

  private struct CancelledByHand: Error {}

  private final class Tally: Sendable {
    private let recorded = ValueLog<Void>()
    func add() { recorded.append(()) }
    var count: Int { recorded.values.count }
  }
}
