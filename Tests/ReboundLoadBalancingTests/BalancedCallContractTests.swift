import Combine
import Expectations
import Rebound
import ReboundLoadBalancing
import ReboundTesting
import Testing

/// What `PolicyContractTests` of Rebound asks of all policies, for the attempts of a balanced call.
@Suite("A balanced call keeps the contract of policies")
struct BalancedCallContractTests {
  private typealias Upstream = TestPublisher<Int, any Error>

  /// What ends an attempt.
  enum End: CaseIterable {
    case success, failure, cancel, cancelInValue, cancelOfAttempt, timeout, replaced, hedged, retried,
      released
  }

  private let scheduler = TestScheduler()
  private let upstream = Upstream()
  private var time: TimeSource { scheduler.time }

  private func balancer() throws -> LoadBalancer<String> {
    try LoadBalancer("weather", among: ["a", "b", "c"], random: .seeded(7), failingWhen: { _ in true })
  }

  private func inFlight(_ balancer: LoadBalancer<String>) -> Int {
    balancer.snapshots(on: time).reduce(0) { $0 + $1.requestsInFlight }
  }

  private func surrounded(
    _ attempts: AnyPublisher<Int, any Error>,
    by end: End
  ) throws -> AnyPublisher<Int, any Error> {
    switch end {
    case .timeout: attempts.timeout(.total(.seconds(1)), time: time).eraseToAnyPublisher()
    case .replaced: attempts.fallback(to: -1).eraseToAnyPublisher()
    case .hedged: attempts.hedged(try HedgePolicy(delay: .after(.seconds(1))), time: time).eraseToAnyPublisher()
    case .retried: attempts.retry(RetryPolicy(clamping: 1, backoff: .immediate), time: time).eraseToAnyPublisher()
    default: attempts
    }
  }

  @Test("a place comes back once, whatever ends the attempt, and nothing comes behind it", arguments: End.allCases)
  func places(end: End) throws {
    let balancer = try balancer()
    let recorder = Recorder<Int, any Error>(answering: { _, recorder in
      if end == .cancelInValue { recorder.cancel() }
      return .max(1)
    })
    let attempts = balancer.makeCall().publisher(time: time) { [upstream] _ in
      return upstream
    }
    let protected = try surrounded(attempts.eraseToAnyPublisher(), by: end)
    if end == .released {
      protected.subscribe(AnySubscriber(receiveSubscription: { _ in }))
      expectEqual(inFlight(balancer), 1)
      for connection in upstream.connections { connection.letGo() }
    } else {
      protected.subscribe(recorder)
      expectEqual(inFlight(balancer), 1)
    }
    switch end {
    case .success, .cancelInValue: upstream.send(1)
    case .failure, .replaced, .retried: upstream.send(completion: .failure(TestFailure.permanent))
    case .cancel: recorder.cancel()
    case .cancelOfAttempt: upstream.send(completion: .failure(CancellationError()))
    case .timeout: scheduler.advance(by: .seconds(1))
    case .hedged:
      scheduler.advance(by: .seconds(1))
      expectEqual(inFlight(balancer), 2)
      upstream.send(1)
    case .released: break
    }
    if [.success, .hedged, .retried].contains(end) { upstream.send(completion: .finished) }
    expectEqual(inFlight(balancer), 0)
    let events = recorder.events.count
    for connection in upstream.connections {
      connection.send(9)
      connection.send(completion: .finished)
      connection.send(completion: .failure(TestFailure.transient))
    }
    scheduler.advance(by: .seconds(100))
    expectEqual(recorder.events.count, events)
    expectEqual(inFlight(balancer), 0)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("no more comes than was requested")
  func demand() throws {
    let recorder = Recorder<Int, any Error>(requesting: .max(2))
    try balancer().makeCall().publisher(time: time) { [upstream] _ in upstream }.subscribe(recorder)
    for value in 1...5 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2])
    recorder.request(.max(1))
    expectEqual(upstream.requests.reduce(.none, +), .max(3))
    upstream.send(6)
    expectEqual(recorder.values, [1, 2, 6])
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("the time is read once to pick a replica, and once for the end", arguments: [false, true])
  func reads(fails: Bool) throws {
    let (source, reads) = (time, Log<Void>())
    let counting = TimeSource(
      now: {
        reads.write(())
        return source.now
      },
      after: { source.after($0, $1) }
    )
    let recorder = Recorder<Int, any Error>()
    try balancer().makeCall().publisher(time: counting) { [upstream] _ in upstream }.subscribe(recorder)
    expectEqual(reads.count, 1)
    upstream.send(1)
    expectEqual(reads.count, 1)
    upstream.send(completion: fails ? .failure(TestFailure.permanent) : .finished)
    expectEqual(reads.count, 2)
  }

  @Test("a thousand attempts that fail at once take the stack of one")
  func flatStack() throws {
    let (balancer, depths) = (try balancer(), Log<UInt>())
    let pipeline = try Pipeline<Int>("weather", time: time) { Retry(.init(clamping: 1_000, backoff: .immediate)) }
    let recorder = Recorder<Int, any Error>()
    pipeline.publisher(among: balancer) { _ in
      var here = 0
      withUnsafePointer(to: &here) { depths.write(UInt(bitPattern: $0)) }
      return Fail<Int, any Error>(error: TestFailure.transient)
    }
    .subscribe(recorder)
    expectEqual(depths.count, 1_001)
    expectEqual(inFlight(balancer), 0)
    // AddressSanitizer keeps such a variable elsewhere, in a place that it does not use again soon.
    #if !ASAN
      #expect((depths.entries.max() ?? 0) - (depths.entries.min() ?? 0) < 64 * 1_024)
    #endif
  }
}
