import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

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
    #expect(try await send([answer(503), answer(200)]).status == 200)
    #expect(attempts.withLock { $0 } == 2)
  }

  @Test("the last answer is the caller's, who may know what it means")
  func lastAnswer() async throws {
    #expect(try await send([answer(503), answer(503)]).status == 503)
    #expect(attempts.withLock { $0 } == 2)
  }

  @Test("an answer that a retry cannot mend is no failure", arguments: [200, 304, 404, 501])
  func noFailure(status: Int) async throws {
    #expect(try await send([answer(status)]).status == status)
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
    #expect(failure.kind == .tooManyRequests)
    #expect(failure.status == 429)
    #expect(failure.retryAfter == .seconds(7))
    #expect(failure.call.attempt == 1)
    #expect(failure.call.operation == "getWeather")
  }

  @Test("what the client throws is named, and says which call it was")
  func thrown() async throws {
    let reset: Result<ResponseHead, any Error> = .failure(TransportFailure(.reset))
    let failure = await #expect(throws: NetworkFailure.self) { try await send([reset, reset]) }
    #expect(failure?.kind == .transport(.reset))
    #expect(failure?.call.operation == "getWeather")
    #expect(attempts.withLock { $0 } == 2)
  }

  @Test("what may not be sent twice is not retried")
  func notIdempotent() async throws {
    let call = NetworkFailure.Call(operation: "order", method: .post)
    #expect(try await send([answer(503)], as: call).status == 503)
  }

  @Test("what can be sent once is not, even under a policy that tries anything again")
  func notReplayable() async throws {
    let call = NetworkFailure.Call(operation: "order", isReplayable: false)
    let always = try Pipeline<ResponseHead>("weather", time: scheduler.time) {
      Retry(try RetryPolicy<any Error>(maxRetries: 3, backoff: .constant(.zero)))
    }
    #expect(try await send([answer(503)], as: call, in: always).status == 503)
    #expect(attempts.withLock { $0 } == 1)
  }

  @Test("a cancel stays one")
  func cancelled() async throws {
    await #expect(throws: CancellationError.self) { try await send([.failure(CancellationError())]) }
  }
}
