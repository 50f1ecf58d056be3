import Combine
import ReboundTesting
import Testing

@Suite("scan")
struct ScanTests {
  @Test("each result is made of the one before, and demand, answers and the end pass as they are")
  func scans() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.scan(10, +).subscribe(recorder)

    #expect(upstream.send(1) == .max(3))
    #expect(upstream.send(2) == .max(3))
    upstream.send(completion: .failure(.expected))

    #expect(upstream.requests == [.max(2)])
    #expect(recorder.values == [11, 13])
    #expect(recorder.completion == .failure(.expected))
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

    #expect(first.values == [1])
    #expect(second.values == [2])
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

    #expect(recorder.values == [1, 11, 111])
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

    #expect(upstream.send(1) == .max(3))
    #expect(upstream.send(2) == .max(3))
    upstream.send(completion: .finished)

    #expect(upstream.requests == [.max(2)])
    #expect(recorder.values == [11, 13])
    #expect(recorder.isFinished)
  }

  @Test("an error thrown cancels the upstream, then ends the stream, once")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.tryScan(0, sum).subscribe(recorder)

    #expect(upstream.send(1) == .none)
    #expect(upstream.send(-1) == .none)

    #expect(recorder.values == [1])
    #expect(recorder.completions.count == 1)
    #expect(cancelCountAtEnd == 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("values before the subscription are delivered, an end before it is not")
  func early() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, any Error>(answering: { _, _ in .max(4) })
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).tryScan(0, sum).subscribe(recorder)

    #expect(subscriber?.receive(5) == .max(4))
    subscriber?.receive(completion: .finished)

    #expect(recorder.values == [5])
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
    #expect(recorder.values == [1, 3])
    #expect(recorder.completions.count == 1)
    #expect(closureCalls == 4)
    #expect(answers == [.none, .none, .none, .none])
    #expect(connection.cancelCount == 1)
  }
}
