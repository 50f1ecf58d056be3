import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("a pipeline around a client of another package")
final class PipelineForeignClientTests: Sendable {
  private let scheduler = TestScheduler()
  private let url = URL(filePath: "/weather")
  private let attempts = Locked(0)

  private func pipeline(retries: Int = 1) throws -> Pipeline<ResponseHead> {
    let policy = try RetryPolicy<any Error>(maxRetries: retries, backoff: .constant(.zero))
    return try Pipeline("weather", repetition: .harmful, time: scheduler.time) {
      Retry(policy.when { ($0 as? NetworkFailure)?.isRetryable ?? false })
    }
  }

  /// One that tries anything again, three times.
  private func unconditional() throws -> Pipeline<ResponseHead> {
    try Pipeline("weather", time: scheduler.time) {
      Retry(try RetryPolicy<any Error>(maxRetries: 3, backoff: .constant(.zero)))
    }
  }

  private func send(
    _ script: [Result<ResponseHead, any Error>],
    as call: NetworkFailure.Call = .init(operation: "getWeather"),
    in pipeline: Pipeline<ResponseHead>? = nil
  ) async throws -> ResponseHead {
    try await (pipeline ?? self.pipeline()).run(foreign: call, time: scheduler.time, head: { $0 }) {
      let attempt = attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      return try script[attempt - 1].get()
    }
  }

  private func answer(_ status: Int, _ headers: HTTPHeaders = [:]) -> Result<ResponseHead, any Error> {
    .success(ResponseHead(status: status, headers: headers, url: url))
  }

  @Test("a failure for the moment is tried again")
  func retries() async throws {
    try await expectEqual(send([answer(503), answer(200)]).status, 200)
    expectEqual(attempts.withLock { $0 }, 2)
  }

  @Test("the last answer is the caller's, who may know what it means")
  func lastAnswer() async throws {
    try await expectEqual(send([answer(503), answer(503)]).status, 503)
    expectEqual(attempts.withLock { $0 }, 2)
  }

  @Test("an answer that a retry cannot mend is no failure", arguments: [200, 304, 404, 501, 505])
  func noFailure(status: Int) async throws {
    try await expectEqual(send([answer(status)]).status, status)
  }

  @Test("to the stages, too: even a policy that tries anything again makes the call once", arguments: [404, 501])
  func noFailureToStages(status: Int) async throws {
    try await expectEqual(send(Array(repeating: answer(status), count: 4), in: unconditional()).status, status)
    expectEqual(attempts.withLock { $0 }, 1)
  }

  @Test("policies see the status, the attempt and Retry-After of an answer")
  func whatPoliciesSee() async throws {
    let seen = Locked<[NetworkFailure]>([])
    let policy = try RetryPolicy<any Error>(maxRetries: 1, backoff: .constant(.zero)).when { error in
      seen.withLock { $0.append(NetworkFailure(refusal: error)) }
      return false
    }
    let pipeline = try Pipeline<ResponseHead>("weather", time: scheduler.time) { Retry(policy) }
    _ = try await send([answer(429, ["Retry-After": "7"])], in: pipeline)
    let failure = try #require(seen.withLock { $0.first })
    expectEqual(failure.kind, .tooManyRequests)
    expectEqual(failure.status, 429)
    expectEqual(failure.retryAfter, .seconds(7))
    expectEqual(failure.call.attempt, 1)
    expectEqual(failure.call.operation, "getWeather")
  }

  @Test("a wait of this process that ends with the time says nothing about the service, also within the call")
  func waitWithinTheCall() throws {
    try Simulation(seed: 1).run {
      let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1))
      let permit = try bulkhead.acquire()
      let policy = try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 1, openTime: .seconds(60))
      let breaker = CircuitBreaker("service", policy: policy)
      let pipeline = try Pipeline<ResponseHead>("weather") {
        Timeout(TimeoutPolicy.total(.seconds(1)).cooperative())
        breaker
      }
      let head = ResponseHead(status: 200, headers: [:], url: URL(filePath: "/weather"))
      let failure = await #expect(throws: NetworkFailure.self) {
        try await pipeline.run(foreign: .init(operation: "getWeather"), head: { $0 }) {
          try await bulkhead.run { head }
        }
      }
      expectEqual(failure?.kind, .deadlineExceeded)
      expectEqual(breaker.state, .closed)
      permit.release()
    }
  }

  @Test("what the client throws is named, and says which call it was")
  func thrown() async throws {
    let reset: Result<ResponseHead, any Error> = .failure(TransportFailure(.reset))
    let failure = await #expect(throws: NetworkFailure.self) { try await send([reset, reset]) }
    expectEqual(failure?.kind, .transport(.reset))
    expectEqual(failure?.call.operation, "getWeather")
    expectEqual(attempts.withLock { $0 }, 2)
  }

  @Test("what may not be sent twice is not retried")
  func notIdempotent() async throws {
    let call = NetworkFailure.Call(operation: "order", method: .post)
    try await expectEqual(send([answer(503)], as: call).status, 503)
  }

  @Test("what can be sent once is not, even under a policy that tries anything again")
  func notReplayable() async throws {
    let call = NetworkFailure.Call(operation: "order", isReplayable: false)
    try await expectEqual(send([answer(503)], as: call, in: unconditional()).status, 503)
    expectEqual(attempts.withLock { $0 }, 1)
  }

  @Test("a cancel stays one")
  func cancelled() async throws {
    await #expect(throws: CancellationError.self) { try await send([.failure(CancellationError())]) }
  }

  @Test("an answer that speaks against the service counts for a breaker, and is the caller's")
  func breaker() async throws {
    let breaker = CircuitBreaker(
      "shop",
      policy: try .consecutive(2, openFor: .seconds(30)),
      failingWhen: NetworkFailure.speaksAgainstService
    )
    let pipeline = try Pipeline<ResponseHead>("weather", time: scheduler.time) { breaker }
    for _ in 1...2 { try await expectEqual(send([answer(507), answer(507)], in: pipeline).status, 507) }
    let failure = await #expect(throws: NetworkFailure.self) { try await send([], in: pipeline) }
    expectEqual(failure?.kind, .circuitOpen)
    expectEqual(failure?.call.operation, "getWeather")
  }

  @Test("what a timeout has cut off is tried again if the call may be", arguments: [HTTPMethod.get, .post])
  func cutOff(method: HTTPMethod) throws {
    try Simulation(seed: 1).run { [self] in
      let pipeline = try Pipeline<ResponseHead>("weather", repetition: .harmful) {
        Retry(.http)
        Timeout(attempt: .seconds(3))
      }
      let call = NetworkFailure.Call(operation: "getWeather", method: method)
      let send = { @Sendable [self] in
        try await pipeline.run(foreign: call, head: { $0 }) { [self] in
          // Virtual time: the simulation owns this clock.
          if attempts.withLock({
            $0 += 1; return $0
          }) == 1 {
            try await ContinuousClock().sleep(for: .seconds(600))
          }
          return ResponseHead(status: 200, url: url)
        }
      }
      guard method == .post else { return try await expectEqual(send().status, 200) }
      let failure = await #expect(throws: NetworkFailure.self) { try await send() }
      expectEqual(failure?.kind, .transport(.timeout(.total)))
      expectEqual(failure?.call.operation, "getWeather")
      expectEqual(failure?.call.duration, .seconds(3))
    }
  }

  @Test("what is asked on the way is another call")
  func inner() async throws {
    let timeout = TimedOut(.attempt, limit: .seconds(3))
    let answer = try await pipeline().run(foreign: .init(operation: "getWeather"), head: { $0 }) { [url] in
      #expect(NetworkFailure(refusal: timeout).call.operation.isEmpty)
      return ResponseHead(status: 200, url: url)
    }
    expectEqual(answer.status, 200)
    #expect(NetworkFailure(refusal: timeout).call.operation.isEmpty)
  }

  @Test("a refresh that a stage begins, and what takes the place of a failure, are other calls")
  func otherWork() async throws {
    let timeout = TimedOut(.attempt, limit: .seconds(3))
    let seen = ValueLog<String>()
    let session = TokenRefresher<String>(obtaining: { () async throws(TransportFailure) in
      seen.append(NetworkFailure(refusal: timeout).call.operation)
      return "token"
    })
    let pipeline = try Pipeline<ResponseHead>("weather", time: scheduler.time) {
      Fallback(
        when: { _ in true },
        async: { [url] _ in
          seen.append(NetworkFailure(refusal: timeout).call.operation)
          return ResponseHead(status: 200, url: url)
        }
      )
      Authentication(by: session) { _ in false }
    }
    let answer = try await pipeline.run(foreign: .init(operation: "getWeather"), head: { $0 }) {
      throw TransportFailure(.reset)
    }
    expectEqual(answer.status, 200)
    expectEqual(seen.values, ["", ""])
  }

  @Test("the failure in the end tells of the attempts before")
  func earlier() async throws {
    let reset: Result<ResponseHead, any Error> = .failure(TransportFailure(.reset))
    let failure = await #expect(throws: NetworkFailure.self) {
      try await send([answer(503), reset, reset], in: pipeline(retries: 2))
    }
    expectEqual(failure?.call.attempt, 3)
    expectEqual(failure?.earlier.map(\.kind), [.serverError(503), .transport(.reset)])
    expectEqual(failure?.earlier.map(\.call.attempt), [1, 2])
  }

  @Test("an answer is named with what the server says and the pause that it asks for")
  func named() {
    let head = ResponseHead(status: 503, headers: ["Retry-After": "7", "Content-Type": "application/json"], url: url)
    let answer = HTTPResponse(
      head: head,
      body: Data(#"{"message":"Closed"}"#.utf8),
      receivedAt: HTTPDate(secondsSinceEpoch: 0)
    )
    let failure = NetworkFailure(answer, of: .init(operation: "getWeather"))
    expectEqual(failure.kind, .serverError(503))
    expectEqual(failure.retryAfter, .seconds(7))
    expectEqual(failure.localizedDescription, "Closed")
    expectEqual(failure.call.operation, "getWeather")
  }

  @Test("URLSession's answer has its status, its fields in an order, and its address")
  func ofURLSession() throws {
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: 503, httpVersion: "HTTP/1.1", headerFields: ["Retry-After": "2", "A": "b"])
    )
    let head = ResponseHead(response, for: URL(filePath: "/asked"))
    expectEqual(head.status, 503)
    expectEqual(head.headers.map(\.name), ["A", "Retry-After"])
    expectEqual(head.url, url)
  }
}
