import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("prefix(untilOutputFrom:)")
struct PrefixUntilOutputTests {
  private let upstream = TestPublisher<Int, TestFailure>()
  private let other = TestPublisher<String, any Error>()

  @Test("values pass until the other publisher publishes one; then the upstream is cancelled and the stream finishes")
  func finishes() {
    var cancelCountAtEnd = 0
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { _, _ in .max(3) },
      whenCompleted: { cancelCountAtEnd = upstream.cancelCount }
    )
    upstream.prefix(untilOutputFrom: other).subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    expectEqual(other.send("stop"), .none)
    other.send("again")
    upstream.send(2)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(other.requests, [.max(1)])
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
    expectEqual(cancelCountAtEnd, 1)
  }

  @Test("the other publisher is subscribed to first, and its end changes nothing")
  func endOfOther() {
    var order: [String] = []
    let recorder = Recorder<Int, TestFailure>()
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { _ in order.append("upstream") })
    let other = TestPublisher<String, any Error>(whenSubscribed: { _ in order.append("other") })
    upstream.prefix(untilOutputFrom: other).subscribe(recorder)
    other.send(completion: .failure(TestFailure.other))
    upstream.send(1)
    other.send("too late")
    upstream.send(2)

    expectEqual(order, ["other", "upstream"])
    expectEqual(recorder.events, [.subscription, .value(1), .value(2)])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("the end of the upstream cancels the other publisher, then passes")
  func end() {
    var cancelCountAtEnd = 0
    let recorder = Recorder<Int, TestFailure>(whenCompleted: { cancelCountAtEnd = other.cancelCount })
    upstream.prefix(untilOutputFrom: other).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    upstream.send(completion: .finished)

    expectEqual(recorder.completions, [.failure(.expected)])
    expectEqual(cancelCountAtEnd, 1)
  }

  @Test("a cancel reaches both publishers, once, and nothing is delivered any more")
  func cancel() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      recorder.cancel()
      return .none
    })
    upstream.prefix(untilOutputFrom: other).subscribe(recorder)
    upstream.send(1)
    other.send("stop")

    expectEqual(upstream.cancelCount, 1)
    expectEqual(other.cancelCount, 1)
    #expect(recorder.completions.isEmpty)
  }

  @Test("a second subscription to the other publisher is cancelled")
  func secondSubscriptionOfOther() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.prefix(untilOutputFrom: other).subscribe(recorder)
    let second = SubscriptionSpy()
    other.connections.first?.send(subscription: second)

    expectEqual(second.cancelCount, 1)
    expectEqual(other.cancelCount, 0)
  }

  @Test("another publisher that has published is left before the stream finishes, and does not keep the subscription")
  func leavingOther() {
    var cancelCountAtEnd = 0
    let recorder = Recorder<Int, TestFailure>(whenCompleted: { cancelCountAtEnd = other.cancelCount })
    upstream.prefix(untilOutputFrom: other).subscribe(recorder)
    other.send("stop")

    expectEqual(cancelCountAtEnd, 1)
    expectEqual(other.cancelCount, 1)
  }

  @Test("another publisher that publishes at once finishes the stream before there is a subscription")
  func immediately() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.prefix(untilOutputFrom: Just("stop")).subscribe(recorder)

    expectEqual(recorder.events, [.completion(.finished)])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("once it has finished, another publisher that lives on keeps nothing alive")
  func releaseByOther() {
    let other = PassthroughSubject<Void, Never>()
    weak var weakRecorder: Recorder<Int, TestFailure>?
    do {
      let recorder = Recorder<Int, TestFailure>()
      weakRecorder = recorder
      TestPublisher<Int, TestFailure>().prefix(untilOutputFrom: other).subscribe(recorder)
      #expect(weakRecorder != nil)
      other.send()
    }
    #expect(weakRecorder == nil)
  }

  @Test("the end comes once and last when the other publisher publishes on another thread")
  func twoThreads() {
    for _ in 0..<200 {
      let (upstream, other) = (TestPublisher<Int, TestFailure>(), TestPublisher<Int, Never>())
      let recorder = Recorder<Int, TestFailure>()
      upstream.prefix(untilOutputFrom: other).subscribe(recorder)
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        if thread == 0 { other.send(0) } else { for value in 0..<50 { upstream.send(value) } }
      }

      expectEqual(recorder.completions, [.finished])
      expectEqual(recorder.events.last, .completion(.finished))
      expectEqual(recorder.values, Array(0..<recorder.values.count))
    }
  }

  @Test("a value that sends to the other publisher, while another thread comes from there, stops neither thread")
  func sendsToOther() {
    let (values, stop) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
    let (isInside, isStopping) = (Signal(), Signal())
    let recorder = Recorder<Int, Never>(answering: { _, _ in
      isInside.send()
      #expect(isStopping.wait())
      stop.send()
      return .none
    })
    values.prefix(untilOutputFrom: stop.handleEvents(receiveOutput: { isStopping.send() })).subscribe(recorder)
    let areDone = RaceCrew(size: 2).run([
      { values.send(1) },
      {
        #expect(isInside.wait())
        stop.send()
      },
    ])

    #expect(areDone)
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("an end that sends to the upstream, while another thread comes from there, stops neither thread")
  func sendsToUpstream() {
    let (values, stop) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
    let (isSending, isEnding) = (Signal(), Signal())
    let recorder = Recorder<Int, Never>(whenCompleted: {
      isEnding.send()
      values.send(2)
    })
    let upstream = values.handleEvents(receiveOutput: { _ in
      isSending.send()
      #expect(isEnding.wait())
    })
    upstream.prefix(untilOutputFrom: stop).subscribe(recorder)
    let areDone = RaceCrew(size: 2).run([
      { values.send(1) },
      {
        #expect(isSending.wait())
        stop.send()
      },
    ])

    #expect(areDone)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("a value sent while the subscription is handed over comes behind it, before a later end, and its answer counts")
  func sendsDuringSubscription() {
    for ends in [false, true] {
      let (upstream, other) = (TestPublisher<Int, TestFailure>(), TestPublisher<Int, Never>())
      let crew = RaceCrew(size: 1)
      var log: [String] = []
      upstream.prefix(untilOutputFrom: other).subscribe(
        AnySubscriber<Int, TestFailure>(
          receiveSubscription: { subscription in
            subscription.request(.max(1))
            let hasReturned = crew.run([
              {
                expectEqual(upstream.send(1), .none)
                if ends { other.send(0) }
              }
            ])
            #expect(hasReturned)
            log.append("subscription")
          },
          receiveValue: { value in
            log.append("value \(value)")
            return .max(2)
          },
          receiveCompletion: { log.append("\($0)") }
        )
      )

      expectEqual(log, ["subscription", "value 1"] + (ends ? ["finished"] : []))
      expectEqual(upstream.requests, [.max(1)] + (ends ? [] : [.max(2)]))
    }
  }

  @Test("an end of the upstream before its subscription passes nothing on, and cancels the other publisher")
  func endBeforeSubscription() {
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { $0.receive(completion: .finished) })
      .prefix(untilOutputFrom: other).subscribe(recorder)
    other.send("stop")

    expectEqual(recorder.events.contains { $0 == .subscription }, false)
    #expect(recorder.values.isEmpty)
    expectEqual(other.cancelCount, 1)
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: nil) { $0.prefix(untilOutputFrom: TestPublisher<Int, Never>()) }
  }

  @Test("the trigger and the upstream see subscribers with the subscription's identifier")
  func triggerSide() {
    var identifiers: [CombineIdentifier] = []
    TestPublisher<Int, TestFailure>(handingOver: {
      identifiers.append($0.combineIdentifier)
      $0.receive(subscription: Subscriptions.empty)
    })
    .prefix(
      untilOutputFrom: TestPublisher<Int, TestFailure>(handingOver: { identifiers.append($0.combineIdentifier) })
    )
    .subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: { identifiers.append($0.combineIdentifier) })
    )
    #expect(identifiers.count == 3 && Set(identifiers).count == 1)
  }
}
