import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("removeDuplicates")
struct RemoveDuplicatesTests {
  @Test("a value equal to the last one published is left out and asks for one more")
  func leavesOut() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.removeDuplicates().subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(2), .max(3))
    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [1, 2, 1])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("the closure compares with the last value published, not with the last one seen")
  func lastPublished() {
    let upstream = TestPublisher<Int, TestFailure>()
    var compared: [[Int]] = []
    let recorder = Recorder<Int, TestFailure>()
    upstream.removeDuplicates { last, new in
      compared.append([last, new])
      return new - last < 3
    }
    .subscribe(recorder)
    for value in [1, 2, 3, 4, 5] { upstream.send(value) }

    expectEqual(compared, [[1, 2], [1, 3], [1, 4], [4, 5]])
    expectEqual(recorder.values, [1, 4])
  }

  @Test("each subscriber has a memory of its own")
  func ownMemory() {
    let publisher = Publishers.RemoveDuplicates(upstream: [1, 1, 2].publisher, predicate: ==)
    let (first, second) = (Recorder<Int, Never>(), Recorder<Int, Never>())
    publisher.subscribe(first)
    publisher.subscribe(second)

    expectEqual(first.values, [1, 2])
    expectEqual(second.values, [1, 2])
  }

  @Test("a value sent from inside the comparison finds the memory as it was before, and is delivered first")
  func reentrantSend() {
    let subject = PassthroughSubject<Int, Never>()
    var hasSent = false
    let recorder = Recorder<Int, Never>()
    subject.removeDuplicates { last, new in
      if !hasSent {
        hasSent = true
        subject.send(7)
      }
      return last == new
    }
    .subscribe(recorder)
    subject.send(1)
    subject.send(2)
    subject.send(2)

    expectEqual(recorder.values, [1, 7, 2])
  }

  @Test("a cancel from inside a value ends it")
  func cancelInside() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    upstream.removeDuplicates().subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .finished)

    expectEqual(recorder.values, [1])
    #expect(recorder.completions.isEmpty)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("it is a subscription of its own, and lets go of both sides at the end")
  func laws() {
    SubscriptionLaws.check(named: "RemoveDuplicates", children: ["downstream", "last"]) { $0.removeDuplicates() }
  }

  @Test("a cancel before the subscription is remembered")
  func earlyCancel() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).removeDuplicates().subscribe(Recorder())
    let subscription = SubscriptionSpy()
    (subscriber?.erased.subject as? any Cancellable)?.cancel()
    subscriber?.receive(subscription: subscription)

    expectEqual(subscription.cancelCount, 1)
  }

  @Test("a value before the subscription stops the process")
  func earlyValue() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, TestFailure>(handingOver: { _ = $0.receive(1) }).removeDuplicates().subscribe(Recorder())
    }
  }
  @Test("a request before the subscription stops the process")
  func earlyRequest() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, TestFailure>(handingOver: { ($0.erased.subject as? any Subscription)?.request(.max(1)) })
        .removeDuplicates().subscribe(Recorder())
    }
  }
}

@Suite("tryRemoveDuplicates")
struct TryRemoveDuplicatesTests {
  @Test("an error thrown cancels the upstream, then ends the stream")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.tryRemoveDuplicates { if $1 == 3 { throw TestFailure.expected } else { $0 == $1 } }.subscribe(recorder)
    for value in [1, 1, 2, 3, 4] { upstream.send(value) }

    expectEqual(recorder.values, [1, 2])
    #expect(upstream.cancelCount == 1 && cancelCountAtEnd == 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("it is a subscription of its own, and lets go of both sides at the end")
  func laws() {
    SubscriptionLaws.check(named: "TryRemoveDuplicates", children: ["downstream", "last"]) {
      $0.tryRemoveDuplicates { $0 == $1 }
    }
  }
}
