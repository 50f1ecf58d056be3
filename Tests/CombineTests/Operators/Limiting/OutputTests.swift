import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("prefix and output")
struct OutputTests {
  @Test("a prefix cancels the upstream and finishes right after its last value")
  func prefix() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(5),
      answering: { _, _ in .max(3) },
      whenCompleted: { cancelCountAtEnd = upstream.cancelCount }
    )
    upstream.prefix(2).subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    #expect(recorder.completions.isEmpty)
    expectEqual(upstream.send(2), .max(3))
    #expect(recorder.isFinished)
    upstream.send(3)

    expectEqual(upstream.requests, [.max(5)])
    expectEqual(recorder.values, [1, 2])
    expectEqual(cancelCountAtEnd, 1)
    expectEqual(recorder.completions.count, 1)
  }

  @Test("an empty prefix finishes at the subscription")
  func emptyPrefix() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    upstream.prefix(0).subscribe(recorder)

    expectEqual(recorder.events, [.subscription, .completion(.finished)])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("one value is published by its number, and each before asks for one more")
  func oneValue() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.output(at: 2).subscribe(recorder)

    expectEqual(upstream.send(10), .max(1))
    expectEqual(upstream.send(11), .max(1))
    expectEqual(upstream.send(12), .none)

    expectEqual(recorder.events, [.subscription, .value(12), .completion(.finished)])
  }

  @Test("values are published by ranges of all kinds")
  func ranges() {
    func values(in range: some RangeExpression<Int>) -> [Int] {
      let recorder = Recorder<Int, Never>()
      (10..<15).publisher.eraseToAnyPublisher().output(in: range).subscribe(recorder)
      #expect(recorder.isFinished)
      return recorder.values
    }
    expectEqual(values(in: 1..<3), [11, 12])
    expectEqual(values(in: 1...3), [11, 12, 13])
    expectEqual(values(in: ...1), [10, 11])
    expectEqual(values(in: ..<1), [10])
    expectEqual(values(in: 3...), [13, 14])
    expectEqual(values(in: 3..<9), [13, 14])
    expectEqual(values(in: 2..<2), [])
  }

  @Test("the range is that within all numbers of values")
  func rangeProperty() {
    expectEqual(Just(1).eraseToAnyPublisher().output(in: 3...).range, 3..<Int.max)
    expectEqual(Just(1).eraseToAnyPublisher().prefix(4).range, 0..<4)
    expectEqual(Just(1).eraseToAnyPublisher().output(at: 4).range, 4..<5)
  }

  @Test("the end of the upstream passes")
  func end() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    upstream.prefix(2).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.expected))

    expectEqual(recorder.completion, .failure(.expected))
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("a value that is sent from inside a value counts before it, and the stream finishes once")
  func reentrantValue() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = Recorder<Int, Never>(answering: { value, _ in
      subject.send(value + 1)
      return .none
    })
    subject.prefix(3).subscribe(recorder)
    subject.send(1)

    expectEqual(recorder.values, [1, 2, 3])
    expectEqual(recorder.completions, [.finished])
  }

  @Test("values before the subscription count and pass, an end before it does not")
  func early() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).prefix(2).subscribe(recorder)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    subscriber?.receive(subscription: SubscriptionSpy())
    _ = subscriber?.receive(2)

    expectEqual(recorder.events, [.value(1), .subscription, .value(2), .completion(.finished)])
  }

  @Test("no end follows a cancel from inside the last value")
  func cancelInside() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    upstream.prefix(1).subscribe(recorder)
    upstream.send(1)

    #expect(recorder.completions.isEmpty)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("after a cancel values count and pass on until the last, without an end")
  func valuesAfterCancel() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    var held: (any Subscription)?
    var events: [String] = []
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).prefix(3).subscribe(
      AnySubscriber(
        receiveSubscription: { held = $0 },
        receiveValue: {
          events.append("\($0)")
          return .max(2)
        },
        receiveCompletion: { _ in events.append("end") }
      )
    )
    let subscription = SubscriptionSpy()
    subscriber?.receive(subscription: subscription)
    _ = subscriber?.receive(1)
    held?.cancel()
    let answers = (2...5).map { subscriber?.receive($0) }
    subscriber?.receive(completion: .finished)

    expectEqual(events, ["1", "2", "3"])
    expectEqual(answers, [.max(2), .max(2), Subscribers.Demand.none, Subscribers.Demand.none])
    expectEqual(subscription.cancelCount, 1)
  }

  @Test("publishers of equal parts are equal")
  func equality() {
    typealias Some = Publishers.Output<Just<Int>>
    expectEqual(Some(upstream: Just(1), range: 0..<2), Some(upstream: Just(1), range: 0..<2))
    #expect(Some(upstream: Just(1), range: 0..<2) != Some(upstream: Just(1), range: 0..<3))
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "Output") { $0.prefix(3) }
  }

  @Test("numbers that no value has stop the process")
  func badNumbers() async {
    await #expect(processExitsWith: .failure) { _ = PassthroughSubject<Int, Never>().prefix(-1) }
    await #expect(processExitsWith: .failure) { _ = PassthroughSubject<Int, Never>().output(at: .max) }
    await #expect(processExitsWith: .failure) { _ = PassthroughSubject<Int, Never>().output(in: -1..<2) }
    await #expect(processExitsWith: .failure) { _ = Publishers.Output(upstream: Just(1), range: -1..<2) }
    await #expect(processExitsWith: .failure) { _ = PassthroughSubject<Int, Never>().output(at: -1) }
  }

  @Test("a prefix that values before the subscription have used up finishes as soon as the subscription comes")
  func usedUpEarly() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).prefix(1).subscribe(recorder)
    _ = subscriber?.receive(1)
    let spy = SubscriptionSpy()
    subscriber?.receive(subscription: spy)
    expectEqual(recorder.events, [.value(1), .subscription, .completion(.finished)])
    expectEqual(spy.cancelCount, 1)
  }
}
