import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("scan")
struct ScanTests {
  @Test("each result is made of the one before, and demand, answers and the end pass as they are")
  func scans() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.scan(10, +).subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(2), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [11, 13])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("each subscriber has a result of its own")
  func separateResults() {
    let upstream = TestPublisher<Int, Never>()
    let sums = upstream.scan(0, +)
    let (first, second) = (Recorder<Int, Never>(), Recorder<Int, Never>())
    sums.subscribe(first)
    upstream.send(1)
    sums.subscribe(second)
    upstream.send(2)

    expectEqual(first.values, [1])
    expectEqual(second.values, [2])
  }

  @Test("a value that is sent from inside the subscriber builds on the value outside")
  func reentrantValue() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = Recorder<Int, Never>(answering: { value, _ in
      if value == 1 { subject.send(10) }
      return .none
    })
    subject.scan(0, +).subscribe(recorder)

    subject.send(1)
    subject.send(100)

    expectEqual(recorder.values, [1, 11, 111])
  }

  @Test("the upstream's own subscription and every event pass, and the mirror shows the result")
  func laws() {
    PassThroughLaws.check(named: "Scan", children: ["downstream", "result"]) { $0.scan(0, +) }
  }
}

@Suite("tryScan")
struct TryScanTests {
  private func sum(_ result: Int, _ value: Int) throws -> Int {
    if value < 0 { throw TestFailure.expected }
    return result + value
  }

  @Test("each result is made of the one before, and demand and answers pass as they are")
  func scans() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.tryScan(10, sum).subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(2), .max(3))
    upstream.send(completion: .finished)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [11, 13])
    #expect(recorder.isFinished)
  }

  @Test("an error thrown cancels the upstream, then ends the stream, once")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.tryScan(0, sum).subscribe(recorder)

    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.send(-1), .none)

    expectEqual(recorder.values, [1])
    expectEqual(recorder.completions.count, 1)
    expectEqual(cancelCountAtEnd, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("values before the subscription are delivered, an end before it is not")
  func early() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, any Error>(answering: { _, _ in .max(4) })
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).tryScan(0, sum).subscribe(recorder)

    expectEqual(subscriber?.receive(5), .max(4))
    subscriber?.receive(completion: .finished)

    expectEqual(recorder.values, [5])
    #expect(recorder.completions.isEmpty)
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "TryScan", children: ["downstream", "status", "result"]) { $0.tryScan(0, sum) }
    SubscriptionLaws.check(named: "TryMap") { $0.tryMap { $0 } }
  }

  @Test("values after an error go on, and another error changes nothing more")
  func afterError() {
    let connection = SubscriptionSpy()
    let recorder = Recorder<Int, any Error>()
    var closureCalls = 0
    var answers: [Subscribers.Demand] = []
    TestPublisher<Int, TestFailure>(handingOver: {
      $0.receive(subscription: connection)
      for value in [1, -1, 2, -2] { answers.append($0.receive(value)) }
      $0.receive(completion: .finished)
    })
    .tryScan(0) {
      closureCalls += 1
      return try sum($0, $1)
    }
    .subscribe(recorder)
    expectEqual(recorder.values, [1, 3])
    expectEqual(recorder.completions.count, 1)
    expectEqual(closureCalls, 4)
    expectEqual(answers, [.none, .none, .none, .none])
    expectEqual(connection.cancelCount, 1)
  }
}
