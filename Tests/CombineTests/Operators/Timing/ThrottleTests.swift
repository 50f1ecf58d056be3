import Dispatch
import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("throttle")
struct ThrottleTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let scheduler = TestScheduler()

  @Test(
    "the first or the latest value of each interval comes",
    arguments: [
      (false, [-1, 1, 3, 6]), (true, [-1, 2, 5, 6]),
    ]
  )
  func throttles(latest: Bool, expected: [Int]) {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.throttle(for: 0.5, scheduler: scheduler, latest: latest).subscribe(recorder)
    let values = [(-1, 0), (1, 100), (2, 200), (3, 600), (4, 700), (5, 900), (6, 1200)]
    for (value, milliseconds) in values {
      scheduler.schedule(after: VirtualTime.start.advanced(by: .milliseconds(milliseconds))) { [upstream] in
        expectEqual(upstream.send(value), .none)
      }
    }
    scheduler.advance(by: 5)
    expectEqual(recorder.values, expected)
    expectEqual(recorder.timedValues.map { $0.time.nanoseconds / 1_000_000 }, [0, 500, 1000, 1500])
  }

  @Test("after a quiet interval a value comes at once")
  func quiet() {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 7)
    upstream.send(2)
    scheduler.advance()
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [0, 7_000_000_000])
  }

  @Test("a value whose interval has passed is scheduled without a time, one before that for its end")
  func schedules() {
    let noting = NotingScheduler()
    upstream.throttle(for: 1, scheduler: noting, latest: true).subscribe(Recorder<Int, TestFailure>())
    for milliseconds in [0, 400, 2_000, 3_000] {
      noting.time = .start.advanced(by: .milliseconds(milliseconds))
      upstream.send(milliseconds)
      noting.run()
    }
    expectEqual(noting.log, ["at once", "after 1000 ms, tolerance 0.007 s", "at once", "at once"])
  }

  @Test("when the clock is set back, a value waits for an interval at most")
  func clockSetBack() {
    let noting = NotingScheduler()
    upstream.throttle(for: 1, scheduler: noting, latest: true).subscribe(Recorder<Int, TestFailure>())
    for seconds in [100, 50] {
      noting.time = .start.advanced(by: .seconds(seconds))
      upstream.send(seconds)
      noting.run()
    }
    expectEqual(noting.log, ["at once", "after 51000 ms, tolerance 0.007 s"])
  }

  @Test("everything is asked for before the subscriber gets its subscription")
  func requests() {
    let log = Shared<[String]>([])
    let subscriber = AnySubscriber<Int, TestFailure>(receiveSubscription: { [upstream] _ in
      log.change { $0.append("\(upstream.requests)") }
    })
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(subscriber)
    expectEqual(log.value, ["[unlimited]"])
  }

  @Test("a value without demand is dropped; the demand is taken when a value is scheduled")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none, answering: { value, _ in .max(value) })
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(recorder)
    func settle(_ value: Int) {
      upstream.send(value)
      scheduler.advance(by: 1)
    }
    settle(9)
    recorder.request(.none)
    settle(9)
    recorder.request(.max(1))
    settle(2)
    for value in [0, 0, 9] { settle(value) }
    expectEqual(recorder.values, [2, 0, 0])
    expectEqual(upstream.requests, [.unlimited])
  }

  @Test(
    "the end comes with the value that waits",
    arguments: [
      Subscribers.Completion<TestFailure>.finished, .failure(.expected),
    ]
  )
  func endsWithValue(completion: Subscribers.Completion<TestFailure>) {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 0.25)
    upstream.send(2)
    upstream.send(completion: completion)
    upstream.send(3)
    expectEqual(scheduler.pendingCount, 1)
    scheduler.advance(by: 5)
    #expect(recorder.values == [1, 2] && recorder.completions == [completion])
    expectEqual(recorder.completionTime?.nanoseconds, 1_000_000_000)
  }

  @Test("the end comes at the next opportunity if no value waits")
  func ends() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    upstream.send(completion: .finished)
    #expect(recorder.completions.isEmpty)
    scheduler.advance()
    expectEqual(recorder.completions, [.failure(.expected)])
  }

  @Test("an end from inside the first request comes after the subscription, on every scheduler")
  func endsEarly() {
    func makeUpstream() -> AnyPublisher<Int, Never> { Just(1).eraseToAnyPublisher() }
    let recorder = Recorder<Int, Never>()
    makeUpstream().throttle(for: 1, scheduler: ImmediateScheduler.shared, latest: true).subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("a value that comes while the subscriber takes its subscription lets none of the next come early")
  func valueInsideSubscription() {
    let recorder = Recorder<Int, TestFailure>(
      on: scheduler,
      answering: { [upstream] value, _ in
        if value < 3 { upstream.send(value + 1) }
        return .none
      }
    )
    let subscriber = AnySubscriber<Int, TestFailure>(
      receiveSubscription: { [upstream] in
        recorder.receive(subscription: $0)
        upstream.send(1)
      },
      receiveValue: { recorder.receive($0) }
    )
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(subscriber)
    scheduler.advance(by: 5)
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [0, 1_000_000_000, 2_000_000_000])
  }

  @Test("a cancel drops the value that waits, and nothing comes any more")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(recorder)
    upstream.send(1)
    recorder.cancel()
    recorder.cancel()
    scheduler.advance(by: 5)
    expectEqual(recorder.events, [.subscription])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("a cancel from inside a value drops the end behind it")
  func cancelsInside() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .finished)
    scheduler.advance(by: 5)
    #expect(recorder.values == [1] && recorder.completions.isEmpty)
  }

  @Test("a cancel before the subscription, by who takes the subscriber for one, cancels that when it comes")
  func earlyCancel() {
    let spy = SubscriptionSpy()
    TestPublisher<Int, TestFailure>(handingOver: {
      let subscription = $0.erased.subject as? any Subscription
      #expect(subscription != nil)
      subscription?.cancel()
      $0.receive(subscription: spy)
    })
    .throttle(for: 1, scheduler: scheduler, latest: true).subscribe(Recorder<Int, TestFailure>())
    expectEqual(spy.cancelCount, 1)
    #expect(spy.requests.isEmpty)
  }

  @Test("what is scheduled does not keep the subscription alive")
  func weak() {
    weak var observed: Recorder<Int, TestFailure>?
    do {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      observed = recorder
      let keeper = Keeper<Int, TestFailure>(recorder)
      upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(keeper)
      keeper.subscription?.request(.unlimited)
      upstream.send(1)
      upstream.connections[0].letGo()
      keeper.subscription = nil
    }
    expectEqual(scheduler.pendingCount, 1)
    #expect(observed == nil)
    scheduler.advance()
  }

  @Test("a cancel lets the value that waits go, while the subscription is still held")
  func cancelReleasesWaiting() {
    final class Token {}
    weak var waiting: Token?
    let upstream = TestPublisher<Token, TestFailure>()
    let keeper = Keeper<Token, TestFailure>()
    upstream.throttle(for: 1, scheduler: scheduler, latest: true).subscribe(keeper)
    keeper.subscription?.request(.unlimited)
    do {
      let token = Token()
      waiting = token
      upstream.send(token)
    }
    #expect(waiting != nil)
    keeper.subscription?.cancel()
    #expect(waiting == nil)
  }

  @Test("on a concurrent queue the end comes last")
  func concurrent() {
    let done = Signal()
    let recorders = (0..<1000).map { _ in
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>(whenCompleted: done.send)
      upstream.throttle(for: .microseconds(1), scheduler: DispatchQueue.global(), latest: true).subscribe(recorder)
      for value in 0..<5 { upstream.send(value) }
      upstream.send(completion: .finished)
      return recorder
    }
    #expect(done.wait(times: 1000))
    #expect(recorders.allSatisfy { $0.entries.last?.event == .completion(.finished) })
    #expect(recorders.allSatisfy { !$0.values.isEmpty && $0.values == $0.values.sorted() && $0.values.last == 4 })
  }

  @Test("a second subscription is cancelled, and the subscription tells what it is")
  func reflection() throws {
    let publisher = upstream.throttle(for: 1, scheduler: scheduler, latest: false)
    #expect(publisher.interval == 1 && publisher.scheduler === scheduler && !publisher.latest)
    let keeper = Keeper<Int, TestFailure>(Recorder<Int, TestFailure>())
    publisher.subscribe(keeper)
    let other = TestPublisher<Int, TestFailure>()
    other.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    let subscription = try #require(keeper.subscription)
    expectEqual(String(describing: subscription), "Throttle")
    #expect(labels(of: subscription).isEmpty)
  }
}
