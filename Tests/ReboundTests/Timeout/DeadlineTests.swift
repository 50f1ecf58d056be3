import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Deadline", .virtualTime)
struct DeadlineTests {
  private let scheduler = TestScheduler.current

  private func deadline(in limit: Duration) -> Deadline {
    Deadline(in: limit, on: scheduler.time)
  }

  @Test("counts down to zero, and no further")
  func countsDown() {
    let deadline = deadline(in: .seconds(3))
    expectEqual(deadline.remaining, .seconds(3))
    scheduler.advance(by: 2)
    expectEqual(deadline.remaining, .seconds(1))
    expectEqual(deadline.description, "1.0 seconds left")
    #expect(!deadline.isOver)
    scheduler.advance(by: 1)
    #expect(deadline.isOver)
    scheduler.advance(by: 1)
    expectEqual(deadline.remaining, .zero)
  }

  @Test("limits a part to what is left")
  func limiting() {
    let deadline = deadline(in: .seconds(12))
    expectEqual(deadline.limiting(.seconds(10)), .seconds(10))
    scheduler.advance(by: 5)
    expectEqual(deadline.limiting(.seconds(10)), .seconds(7))
    expectEqual(deadline.limiting(nil), .seconds(7))
  }

  @Test("knows which of two is nearer")
  func nearer() {
    let (short, long) = (deadline(in: .seconds(1)), deadline(in: .seconds(2)))
    expectEqual(short.nearer(long).remaining, .seconds(1))
    expectEqual(long.nearer(short).remaining, .seconds(1))
    expectEqual(long.nearer(nil).remaining, .seconds(2))
  }

  @Test("counts a negative time as none")
  func negative() {
    #expect(Deadline(in: .seconds(-1), on: JumpingClock().time).isOver)
  }

  // MARK: Whose it is

  private typealias Answer = AnyPublisher<Int, any Error>

  /// Fails or finishes after a tenth of a second, and writes down how much time it was given.
  private func work(_ log: EventLog<Duration?>, fails: Bool = true) -> Answer {
    let time = scheduler.time
    return Publishers.Create("Work") { emitter in
      log.write(Deadline.current?.remaining)
      return time.after(.milliseconds(100)) {
        emitter.send(completion: fails ? .failure(TestFailure.transient) : .finished)
      }
    }
    .eraseToAnyPublisher()
  }

  @Test("reaches the hedges of a publisher, which begin on a timer's thread")
  func hedges() throws {
    let log = EventLog<Duration?>()
    let policy = try HedgePolicy<any Error>(delay: .after(.milliseconds(50)))
    let hedged = work(log).hedged(policy, time: scheduler.time)
    hedged.timeout(.total(.seconds(1)), time: scheduler.time).subscribe(Recorder())
    scheduler.advance(by: 2)
    expectEqual(log.entries, [.seconds(1), .milliseconds(950)])
  }

  @Test("reaches what takes the place of a failure, as it is there")
  func replacements() {
    let (inside, outside, recovered) = (EventLog<Duration?>(), EventLog<Duration?>(), EventLog<Duration?>())
    let time = scheduler.time
    let failing = work(EventLog())
    failing.fallback { _ in work(inside) }.timeout(.total(.seconds(1)), time: time).subscribe(Recorder())
    failing.timeout(.attempt(.seconds(5)), time: time).fallback { _ in work(outside) }.subscribe(Recorder())
    // Also while the upstream is being subscribed to.
    Fail<Int, any Error>(error: TestFailure.transient).timeout(.attempt(.seconds(5)), time: time)
      .recover { _ in work(recovered) }
      .subscribe(Recorder())
    scheduler.advance(by: 2)
    expectEqual(inside.entries, [.milliseconds(900)])
    expectEqual(outside.entries, [nil])
    expectEqual(recovered.entries, [nil])
  }

  @Test("reaches the publisher that says when a retry goes on")
  func companions() {
    let log = EventLog<Duration?>()
    work(EventLog()).retry(on: { _ in true }, times: 1, after: { _ in work(log, fails: false) })
      .timeout(.total(.seconds(1)), time: scheduler.time)
      .subscribe(Recorder())
    scheduler.advance(by: 2)
    expectEqual(log.entries, [.milliseconds(900)])
  }

  @Test("of who asked first is not that of the renewal that all wait for")
  func renewal() {
    let log = EventLog<Duration?>()
    let refresher = TokenRefresher<Int>(
      lifetime: { _ in .seconds(10) },
      rejectedWhen: { (_: any Error) in false },
      refreshingWith: { _ in work(log) }
    )
    refresher.signIn(with: 1)
    scheduler.advance(by: 11)
    refresher.authenticated(when: { _ in true }, time: scheduler.time) { _ in work(EventLog()) }
      .timeout(.total(.seconds(1)), time: scheduler.time)
      .subscribe(Recorder())
    scheduler.advance(by: 2)
    expectEqual(log.entries, [nil])
  }

  @Test("of who has a stale value is not that of the call for a new one")
  func revalidation() throws {
    let log = EventLog<Duration?>()
    let cache = Cache<Int, Int, any Error>(
      policy: try CachePolicy(fresh: .seconds(1), staleWhileRevalidate: .seconds(100))
    )
    cache.store(1, for: 0)
    scheduler.advance(by: 2)
    let recorder = Recorder<Cached<Int>, any Error>()
    work(log).cached(in: cache, for: 0).timeout(.total(.seconds(1)), time: scheduler.time).subscribe(recorder)
    expectEqual(recorder.values.map(\.value), [1])
    expectEqual(log.entries, [nil])
  }
}
