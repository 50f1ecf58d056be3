import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("UnrepeatableUpstream", .virtualTime)
struct UnrepeatableUpstreamTests {
  private let scheduler = TestScheduler.current
  private let events = PolicyEvents()

  private func failure<Upstream: Publisher>(
    of upstream: Upstream,
    under pipeline: Pipeline<Int>
  ) -> (any Error)? where Upstream.Output == Int {
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: pipeline).subscribe(recorder)
    return recorder.failure
  }

  private func retrying() throws -> Pipeline<Int> {
    try Pipeline<Int>("weather", events: events) { Retry(.init(clamping: 1, backoff: .immediate)) }
  }

  @Test("refuses publishers that run once for all, through operators too, and tells the events")
  func refuses() throws {
    let log = PolicyEventLog(of: events)
    let pipeline = try retrying()
    let future = Future<Int, TestFailure> { $0(.failure(.transient)) }
    let shared = Fail<Int, TestFailure>(error: .transient).share()
    let multicast = Fail<Int, TestFailure>(error: .transient).multicast { PassthroughSubject() }.autoconnect()
    let errors = [
      failure(of: future, under: pipeline),
      failure(of: shared, under: pipeline),
      failure(of: multicast, under: pipeline),
      failure(of: future.map { $0 + 1 }.mapError { $0 }.receive(on: scheduler), under: pipeline),
    ]
    for error in errors {
      let misuse = try #require(error as? UnrepeatableUpstream)
      expectEqual(misuse.pipeline, "weather")
      expectEqual(misuse.stage, .retry)
      #expect(misuse.description.contains("wrap the making of it in Deferred"))
    }
    expectEqual((errors[3] as? UnrepeatableUpstream)?.upstream.hasPrefix("Future<"), true)
    expectEqual(log.events.count, 4)
    #expect(log.events.allSatisfy { $0.severity == .error })
  }

  @Test(
    "sees through operators that subscribe to their upstream alone, and not through one that puts another in its place"
  )
  func operators() throws {
    struct Nowhere: TextOutputStream { mutating func write(_ string: String) {} }
    let pipeline = try retrying()
    let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1))
    let future = Future<Int, TestFailure> { $0(.failure(.transient)) }
    let errors = [
      failure(of: future.removeDuplicates(), under: pipeline),
      failure(of: future.print("", to: Nowhere()), under: pipeline),
      failure(of: future.map(\.byteSwapped), under: pipeline),
      failure(of: future.map(\.byteSwapped, \.magnitude).map { $0.0 }, under: pipeline),
      failure(of: future.tryFilter { _ in true }, under: pipeline),
      failure(of: future.replaceError(with: 1), under: pipeline),
      failure(of: future.buffer(size: 1, prefetch: .byRequest, whenFull: .dropOldest), under: pipeline),
      failure(of: future.timeout(.seconds(1), scheduler: scheduler, customError: { .permanent }), under: pipeline),
      failure(of: future.limited(by: bulkhead, refusingWith: { _ in .permanent }), under: pipeline),
    ]
    for error in errors { expectEqual((error as? UnrepeatableUpstream)?.upstream.hasPrefix("Future<"), true) }
    let other = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.permanent)) })
    expectEqual(failure(of: future.catch { _ in other }, under: pipeline) as? TestFailure, .permanent)
    expectEqual(failure(of: future.recover { _ in other }, under: pipeline) as? TestFailure, .permanent)
    expectEqual(other.subscriptionCount, 4)
  }

  @Test("lets pass what is shared behind an operator that may cancel it: whoever comes then begins it anew")
  func cancelledShare() throws {
    let request = TestPublisher<Int, TestFailure>()
    let pipeline = try retrying()
    let recorder = Recorder<Int, any Error>()
    request.share().timeout(.seconds(1), scheduler: scheduler, customError: { .transient })
      .protected(by: pipeline).subscribe(recorder)
    scheduler.advance(by: .seconds(1))
    expectEqual(request.subscriptionCount, 2)
    request.send(7)
    request.send(completion: .finished)
    // A timeout hands its values on by its scheduler.
    scheduler.advance(by: .milliseconds(1))
    expectEqual(recorder.values, [7])
    let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1))
    let limited = request.share().limited(by: bulkhead, refusingWith: { _ in .permanent }).tryFilter { _ in true }
    limited.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    expectEqual(request.subscriptionCount, 3)
  }

  @Test("goes by what stages say of themselves: a policy of a user's own, a repetition, a renewed credential")
  func whateverRepeats() throws {
    let refresher = TokenRefresher<String>(refreshing: { _ in .refreshed("new") })
    let pipelines = [
      try Pipeline<Int>("weather") { PipelineRulesTests.OwnPolicy { $0.retries = true } },
      try Pipeline<Int>("weather") { PipelineRulesTests.OwnPolicy { $0.runsSeveralAtOnce = true } },
      try Pipeline<Int>("weather") { RepeatPolicy(clamping: 1) },
      try Pipeline<Int>("weather") { Authentication(by: refresher) { _ in true } },
    ]
    let stages = pipelines.map { pipeline in
      (failure(of: Future<Int, TestFailure> { $0(.success(1)) }, under: pipeline) as? UnrepeatableUpstream)?.stage
    }
    expectEqual(stages, [PolicyKind("own"), PolicyKind("own"), .repeat, .authentication])
  }

  @Test("lets pass what is made anew, what is not retried, and what cannot be known")
  func passes() throws {
    let pipeline = try retrying()
    let future = Future<Int, TestFailure> { $0(.failure(.transient)) }
    let deferred = Deferred { Future<Int, TestFailure> { $0(.failure(.transient)) } }
    expectEqual(failure(of: deferred, under: pipeline) as? TestFailure, .transient)
    expectEqual(failure(of: future.eraseToAnyPublisher(), under: pipeline) as? TestFailure, .transient)
    let limited = try Pipeline<Int>("weather") { Timeout(total: .seconds(1)) }
    expectEqual(failure(of: future, under: limited) as? TestFailure, .transient)
  }
}
