import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("collect by time")
struct CollectByTimeTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let scheduler = TestScheduler()

  @Test("by time, the values of each interval are a group, and empty ones are left out")
  func byTime() {
    let recorder = Recorder<[Int], TestFailure>(on: scheduler)
    upstream.collect(.byTime(scheduler, 1)).subscribe(recorder)
    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(2), .max(1))
    scheduler.advance(by: 3.5)
    upstream.send(3)
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [[1, 2], [3]])
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [1_000_000_000, 4_000_000_000])
  }

  @Test("by time, each request asks for one value, and a group without demand waits and grows")
  func byTimeDemand() {
    let recorder = Recorder<[Int], TestFailure>(
      requesting: .none,
      answering: { group, _ in
        group == [1, 2] ? .max(1) : .none
      }
    )
    upstream.collect(.byTime(scheduler, 1)).subscribe(recorder)
    expectEqual(scheduler.pendingCount, 1)
    upstream.send(1)
    scheduler.advance(by: 1)
    upstream.send(2)
    recorder.request(.none)
    recorder.request(.max(1))
    expectEqual(upstream.requests, [.max(1)])
    scheduler.advance(by: 1)
    upstream.send(3)
    scheduler.advance(by: 1)
    upstream.send(4)
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [[1, 2], [3]])
    recorder.request(.unlimited)
    expectEqual(upstream.requests, [.max(1), .max(1)])
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [[1, 2], [3], [4]])
  }

  @Test("by count, a full group comes at the next opportunity, and the interval starts anew")
  func byCount() {
    let recorder = Recorder<[Int], TestFailure>(on: scheduler)
    upstream.collect(.byTimeOrCount(scheduler, 1, 2)).subscribe(recorder)
    expectEqual(upstream.requests, [.unlimited])
    scheduler.advance(by: 0.75)
    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.send(2), .none)
    expectEqual(upstream.send(3), .none)
    #expect(recorder.values.isEmpty)
    scheduler.advance(by: 5)
    expectEqual(recorder.values, [[1, 2], [3]])
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [750_000_000, 1_750_000_000])
    expectEqual(scheduler.pendingCount, 1)
  }

  @Test("by count, requests and the answers to full groups are multiplied")
  func byCountDemand() {
    let recorder = Recorder<[Int], TestFailure>(
      requesting: .max(2),
      answering: { group, _ in
        group == [1, 2, 3] || group == [4] ? .max(1) : .none
      }
    )
    upstream.collect(.byTimeOrCount(scheduler, 1, 3)).subscribe(recorder)
    expectEqual(upstream.requests, [.max(6)])
    for value in 1...3 { upstream.send(value) }
    scheduler.advance()
    expectEqual(upstream.requests, [.max(6), .max(3)])
    upstream.send(4)
    scheduler.advance(by: 1)
    expectEqual(upstream.requests, [.max(6), .max(3)])
    for value in 5...13 { upstream.send(value) }
    scheduler.advance(by: 5)
    expectEqual(recorder.values, [[1, 2, 3], [4], [5, 6, 7], [8, 9, 10]])
    recorder.request(.max(1))
    scheduler.advance(by: 1)
    expectEqual(recorder.values.last, [11, 12, 13])
  }

  @Test("a count below one counts as one")
  func tinyCount() {
    let recorder = Recorder<[Int], TestFailure>(requesting: .max(2))
    upstream.collect(.byTimeOrCount(scheduler, 1, -5)).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    scheduler.advance()
    expectEqual(recorder.values, [[1], [2]])
    expectEqual(upstream.requests, [.max(2)])
  }

  @Test("the normal end publishes what waits, also without demand, and then itself, on the scheduler")
  func finishes() {
    let recorder = Recorder<[Int], TestFailure>(requesting: .none)
    upstream.collect(.byTimeOrCount(scheduler, 1, 2)).subscribe(recorder)
    for value in 1...5 { upstream.send(value) }
    upstream.send(completion: .finished)
    upstream.send(6)
    upstream.send(completion: .failure(.other))
    expectEqual(recorder.events, [.subscription])
    scheduler.advance(by: 5)
    expectEqual(recorder.values, [[1, 2], [3, 4], [5]])
    expectEqual(recorder.completions, [.finished])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a failure drops what waits")
  func fails() {
    let recorder = Recorder<[Int], TestFailure>()
    upstream.collect(.byTime(scheduler, 1)).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.expected))
    scheduler.advance(by: 5)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("a cancel drops what waits, cancels timer and upstream, and nothing comes any more", arguments: [true, false])
  func cancels(afterTheEnd: Bool) {
    let recorder = Recorder<[Int], TestFailure>()
    upstream.collect(.byTimeOrCount(scheduler, 1, 2)).subscribe(recorder)
    for value in 1...3 { upstream.send(value) }
    if afterTheEnd { upstream.send(completion: .finished) }
    recorder.cancel()
    recorder.cancel()
    scheduler.advance(by: 5)
    expectEqual(recorder.events, [.subscription])
    expectEqual(upstream.cancelCount, afterTheEnd ? 0 : 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a cancel from inside a group drops the groups and the end behind it")
  func cancelsInside() {
    let recorder = Recorder<[Int], TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .max(1)
    })
    upstream.collect(.byTimeOrCount(scheduler, 1, 1)).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .finished)
    scheduler.advance(by: 5)
    #expect(recorder.values == [[1]] && recorder.completions.isEmpty)
  }

  @Test("groups keep their order when the last job is done first")
  func backward() {
    let backward = BackwardScheduler()
    let recorder = Recorder<[Int], TestFailure>()
    upstream.collect(.byTimeOrCount(backward, 1, 2)).subscribe(recorder)
    for value in 0..<20 { upstream.send(value) }
    upstream.send(completion: .finished)
    backward.run()
    expectEqual(recorder.values.flatMap { $0 }, Array(0..<20))
    expectEqual(recorder.entries.last?.event, .completion(.finished))
  }

  @Test("no value is lost on a concurrent queue, and the end comes last")
  func concurrent() {
    expectOrderKept { values in
      FlattenedGroups(values.collect(.byTimeOrCount(DispatchQueue.global(), .milliseconds(1), 2)))
    }
    expectOrderKept { FlattenedGroups($0.collect(.byTimeOrCount(DispatchQueue.global(), .nanoseconds(1), 3))) }
  }

  @Test("on the immediate scheduler full groups and the rest at the end come at once")
  func immediate() {
    let recorder = Recorder<[Int], TestFailure>()
    upstream.collect(.byTimeOrCount(ImmediateScheduler.shared, 1, 2)).subscribe(recorder)
    for value in 1...3 { upstream.send(value) }
    expectEqual(recorder.values, [[1, 2]])
    upstream.send(completion: .finished)
    #expect(recorder.values == [[1, 2], [3]] && recorder.isFinished)
  }

  @Test("everything is let go after the end and after a cancel", arguments: [true, false])
  func releases(byCancel: Bool) {
    weak var observed: Recorder<[Int], TestFailure>?
    do {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<[Int], TestFailure>()
      observed = recorder
      upstream.collect(.byTime(scheduler, 1)).subscribe(recorder)
      upstream.send(1)
      if byCancel {
        recorder.cancel()
      } else {
        upstream.send(completion: .finished)
        upstream.connections[0].letGo()
      }
      scheduler.advance()
    }
    #expect(observed == nil)
  }

  @Test("a second subscription is cancelled, and the subscription tells what it is")
  func reflection() throws {
    let publisher = upstream.collect(.byTime(scheduler, 1))
    #expect(publisher.upstream === upstream && publisher.options == nil)
    guard case .byTime(let context, let interval) = publisher.strategy else {
      Issue.record("the strategy is another one")
      return
    }
    #expect(context === scheduler && interval == 1)
    let keeper = Keeper<[Int], TestFailure>(Recorder<[Int], TestFailure>())
    publisher.subscribe(keeper)
    let other = TestPublisher<Int, TestFailure>()
    other.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    let subscription = try #require(keeper.subscription)
    expectEqual(String(describing: subscription), "CollectByTime")
    #expect(labels(of: subscription).isEmpty)
  }

  /// Groups one value after the other, for subscribers that ask for everything.
  private struct FlattenedGroups<Upstream: Publisher<[Int], TestFailure>>: Publisher {
    typealias Output = Int
    typealias Failure = TestFailure
    let upstream: Upstream

    init(_ upstream: Upstream) {
      self.upstream = upstream
    }

    func receive<S: Subscriber<Int, TestFailure>>(subscriber: S) {
      upstream.subscribe(
        AnySubscriber<[Int], TestFailure>(
          receiveSubscription: subscriber.receive(subscription:),
          receiveValue: { group in
            for value in group { _ = subscriber.receive(value) }
            return .none
          },
          receiveCompletion: subscriber.receive(completion:)
        )
      )
    }
  }
}
