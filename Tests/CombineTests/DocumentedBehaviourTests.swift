import Expectations
import ReboundTesting
import Testing

@testable import Combine

/// What Documentation/Behaviour.md says of more than one operator, or of what is seen only where operators meet.
@Suite("Documented behaviour")
struct DocumentedBehaviourTests {
  @Test("the subscribers of a subject are served in the order of their subscriptions")
  func order() {
    let passing = PassthroughSubject<Int, Never>()
    let keeping = CurrentValueSubject<Int, Never>(0)
    var served: [String] = []
    let subscriptions = (0..<5).flatMap { number in
      [
        passing.sink { served.append("passing \(number): \($0)") },
        keeping.dropFirst().sink { served.append("keeping \(number): \($0)") },
      ]
    }
    subscriptions[2].cancel()
    passing.send(7)
    keeping.send(8)
    expectEqual(served, [0, 2, 3, 4].map { "passing \($0): 7" } + (0..<5).map { "keeping \($0): 8" })
    withExtendedLifetime(subscriptions) {}
  }

  @Test("subscribe(on:) at once serves a request from inside a request")
  func requestInsideRequest() {
    let recorder = Recorder<Int, Never>(
      requesting: .max(1),
      answering: { _, recorder in
        recorder.request(.max(1))
        return .none
      }
    )
    Publishers.Sequence<ClosedRange<Int>, Never>(sequence: 1...3)
      .subscribe(on: ImmediateScheduler.shared)
      .subscribe(recorder)
    expectEqual(recorder.values, [1, 2, 3])
    #expect(recorder.isFinished)
  }

  @Test("the same subscription handed over once more is cancelled, though it is in use")
  func sameSubscriptionTwice() {
    func cancelCount(_ subscribe: (TestPublisher<Int, TestFailure>) -> Void) -> Int {
      let spy = SubscriptionSpy()
      subscribe(
        TestPublisher(handingOver: {
          for _ in 0..<2 { $0.receive(subscription: spy) }
        })
      )
      return spy.cancelCount
    }
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    expectEqual(cancelCount { $0.removeDuplicates().subscribe(recorder) }, 1)
    expectEqual(cancelCount { $0.first().subscribe(recorder) }, 1)
    expectEqual(cancelCount { $0.buffer(size: 1, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder) }, 1)
    expectEqual(cancelCount { $0.flatMap { Just($0) }.subscribe(recorder) }, 1)
    expectEqual(cancelCount { $0.retry(1).subscribe(recorder) }, 1)
    expectEqual(cancelCount { $0.append(Empty()).subscribe(recorder) }, 1)
    expectEqual(cancelCount { Publishers.Merge($0, Empty()).subscribe(recorder) }, 1)
    let sink = Subscribers.Sink<Int, TestFailure>(receiveCompletion: { _ in }, receiveValue: { _ in })
    expectEqual(cancelCount { $0.subscribe(sink) }, 1)
  }

  @Test("who has nothing to send hands out the empty subscription")
  func emptySubscription() {
    func isEmpty(_ publisher: some Publisher) -> Bool {
      publisher.subscriptionForTesting()?.combineIdentifier == Subscriptions.empty.combineIdentifier
    }
    #expect(isEmpty(Int?.none.publisher))
    #expect(isEmpty(Result<Int, TestFailure>.failure(.expected).publisher))
    #expect(isEmpty([Int]().publisher))
    #expect(isEmpty(Record<Int, TestFailure>(output: [], completion: .failure(.expected))))
    let (passing, keeping) = (PassthroughSubject<Int, Never>(), CurrentValueSubject<Int, Never>(1))
    #expect(!isEmpty(passing) && !isEmpty(keeping))
    passing.send(completion: .finished)
    keeping.send(completion: .finished)
    #expect(isEmpty(passing) && isEmpty(keeping))
  }

  @Test("dropping what sink and assign return cancels, and keeping it does not")
  func handles() {
    final class Target {
      var number = 0
    }
    let upstream = TestPublisher<Int, Never>()
    var handles: [AnyCancellable] = [upstream.sink { _ in }, upstream.assign(to: \.number, on: Target())]
    #expect(handles.count == 2 && upstream.cancelCount == 0)
    handles.removeAll()
    expectEqual(upstream.connections.map(\.cancelCount), [1, 1])
  }

  @Test("tryMap fails once, though its closure throws again")
  func tryMapFailsOnce() {
    let connection = SubscriptionSpy()
    let recorder = Recorder<Int, any Error>()
    TestPublisher<Int, TestFailure>(handingOver: {
      $0.receive(subscription: connection)
      for value in [-1, 1, -2, 2] { _ = $0.receive(value) }
      $0.receive(completion: .finished)
    })
    .tryMap { if $0 < 0 { throw TestFailure.expected } else { $0 } }
    .subscribe(recorder)
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completions.count, 1)
    expectEqual(connection.cancelCount, 1)
  }

  @Test("a job that is scheduled keeps the operator until it is done, but for throttle's")
  func jobsKeep() {
    let scheduler = TestScheduler()
    typealias Upstream = AnyPublisher<Int, TestFailure>
    func isKept(_ build: (Upstream) -> some Publisher<Int, TestFailure>) -> [Bool] {
      weak var observed: Recorder<Int, TestFailure>?
      do {
        let recorder = Recorder<Int, TestFailure>()
        observed = recorder
        var subscriber: AnySubscriber<Int, TestFailure>?
        build(TestPublisher(handingOver: { subscriber = $0 }).eraseToAnyPublisher()).subscribe(
          AnySubscriber(receiveSubscription: { $0.request(.unlimited) }, receiveValue: recorder.receive)
        )
        subscriber?.receive(subscription: SubscriptionSpy())
        _ = subscriber?.receive(1)
      }
      let isKeptBefore = observed != nil
      scheduler.advance(by: 5)
      return [isKeptBefore, observed != nil]
    }
    expectEqual(isKept { $0.receive(on: scheduler) }, [true, false])
    expectEqual(isKept { $0.delay(for: 1, scheduler: scheduler) }, [true, false])
    expectEqual(isKept { $0.subscribe(on: scheduler) }.first, true)
    expectEqual(isKept { $0.debounce(for: 1, scheduler: scheduler) }, [true, false])
    expectEqual(isKept { $0.timeout(1, scheduler: scheduler) }, [true, false])
    expectEqual(isKept { $0.throttle(for: 1, scheduler: scheduler, latest: true) }, [false, false])
  }

  @Test("switchToLatest ends once, however often its upstream does")
  func endsOnce() {
    let upstream = TestPublisher<Just<Int>, Never>()
    let recorder = Recorder<Int, Never>()
    upstream.switchToLatest().subscribe(recorder)
    upstream.send(completion: .finished)
    upstream.send(completion: .finished)
    expectEqual(recorder.completions.count, 1)
  }

  @Test("each side of a combineLatest has an identifier of its own")
  func identifiers() {
    var identifiers: Set<CombineIdentifier> = []
    let sides = (0..<2).map { _ in
      TestPublisher<Int, Never>(handingOver: { identifiers.insert($0.combineIdentifier) })
    }
    sides[0].combineLatest(sides[1]).subscribe(Recorder<(Int, Int), Never>())
    expectEqual(identifiers.count, 2)
  }

  @Test("a buffer makes its own error with no lock held: it can be sent to from there, and fails once")
  func errorOfBuffer() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    var isInside = false
    upstream
      .buffer(
        size: 1,
        prefetch: .byRequest,
        whenFull: .customError {
          if !isInside {
            isInside = true
            upstream.send(3)
          }
          return .expected
        }
      )
      .subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1])
    expectEqual(recorder.failure, .expected)
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.cancelCount, 1)
  }
}
