import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("CurrentValueSubject")
struct CurrentValueSubjectTests {
  @Test("owes everyone the latest value, and delivers it with the next request")
  func latest() {
    let subject = CurrentValueSubject<Int, TestFailure>(1)
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    subject.subscribe(recorder)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1])

    subject.send(2)
    subject.send(3)
    expectEqual(recorder.values, [1])
    recorder.request(.max(2))
    expectEqual(recorder.values, [1, 3])
    subject.value = 4
    expectEqual(recorder.values, [1, 3, 4])
  }

  @Test("shows the new value to those whom it tells of it")
  func valueInside() {
    let subject = CurrentValueSubject<Int, Never>(1)
    var seen: [Int] = []
    let subscription = subject.sink { _ in seen.append(subject.value) }
    subject.send(2)
    expectEqual(seen, [1, 2])
    subscription.cancel()
  }

  @Test("after the end, sending changes nothing, and setting the value changes only that")
  func afterEnd() {
    let subject = CurrentValueSubject<Int, TestFailure>(1)
    let recorder = Recorder<Int, TestFailure>()
    subject.subscribe(recorder)
    subject.send(completion: .failure(.expected))
    subject.send(2)
    expectEqual(subject.value, 1)
    subject.value = 3
    expectEqual(subject.value, 3)
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.failure(.expected))])

    let late = Recorder<Int, TestFailure>(requesting: .none)
    subject.subscribe(late)
    expectEqual(late.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("asks each upstream for everything at once, and cancels them when it goes")
  func upstream() {
    let spies = [SubscriptionSpy(), SubscriptionSpy()]
    do {
      let subject = CurrentValueSubject<Int, Never>(1)
      for spy in spies { subject.send(subscription: spy) }
      #expect(spies.allSatisfy { $0.requests == [.unlimited] && $0.cancelCount == 0 })
    }
    expectEqual(spies.map(\.cancelCount), [1, 1])
  }
}
