import Combine
import Dispatch
import Expectations
import ReboundTesting
import Synchronization
import Testing

@Suite("What subjects share")
struct BroadcasterTests {
  @Test("the end sent from inside a subscription comes after the subscription")
  func endInsideSubscription() {
    let subject = PassthroughSubject<Int, TestFailure>()
    var events: [String] = []
    subject.subscribe(
      AnySubscriber(
        receiveSubscription: { _ in
          subject.send(completion: .finished)
          events.append("subscription")
        },
        receiveCompletion: { _ in events.append("completion") }
      )
    )
    expectEqual(events, ["subscription", "completion"])
  }

  @Test("a value sent from inside a value is delivered before the outer send returns, depth first")
  func reentrant() {
    let subject = PassthroughSubject<Int, TestFailure>()
    var received: [String] = []
    let first = subject.sink(receiveCompletion: { _ in }) { value in
      received.append("a\(value)")
      if value == 1 { subject.send(2) }
    }
    let second = subject.sink(receiveCompletion: { _ in }) { received.append("b\($0)") }
    subject.send(1)
    expectEqual(received, ["a1", "a2", "b2", "b1"])
    first.cancel()
    second.cancel()
  }

  @Test("who subscribes from inside a value gets the next one, not this one")
  func subscribeInside() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let late = Recorder<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(answering: { value, _ in
      if value == 1 { subject.subscribe(late) }
      return .none
    })
    subject.subscribe(recorder)
    subject.send(1)
    subject.send(2)
    expectEqual(late.values, [2])
  }

  @Test("who is cancelled from inside a value does not get it any more")
  func cancelInside() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let victim = Recorder<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(answering: { _, _ in
      victim.cancel()
      return .none
    })
    subject.subscribe(recorder)
    subject.subscribe(victim)
    subject.send(1)
    expectEqual(recorder.values, [1])
    #expect(victim.values.isEmpty)
  }

  @Test("a hundred thousand subscribers come, get a value and go")
  func many() {
    let subject = PassthroughSubject<Int, Never>()
    var sum = 0
    var subscriptions = (0..<100_000).map { _ in subject.sink { sum += $0 } }
    subject.send(1)
    expectEqual(sum, 100_000)
    while let last = subscriptions.popLast() { last.cancel() }
    subject.send(1)
    expectEqual(sum, 100_000)
  }

  @Test("subscribers are let go at once when they cancel, and at the end")
  func release() {
    let subject = PassthroughSubject<Int, TestFailure>()
    for cancels in [true, false] {
      weak var released: Recorder<Int, TestFailure>?
      do {
        let recorder = Recorder<Int, TestFailure>()
        released = recorder
        subject.subscribe(recorder)
        subject.send(1)
        if cancels { recorder.cancel() } else { subject.send(completion: .finished) }
      }
      #expect(released == nil)
    }
  }

  @Test("who cancels from inside a value is let go when the round is over")
  func releaseAfterRound() {
    let subject = PassthroughSubject<Int, TestFailure>()
    weak var released: Recorder<Int, TestFailure>?
    do {
      let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
        recorder.cancel()
        return .max(1)
      })
      released = recorder
      subject.subscribe(recorder)
    }
    subject.send(1)
    #expect(released == nil)
  }

  @Test("coming and going on one thread does not disturb sending on another")
  func threads() {
    // Subjects may be used from any thread.
    nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
    let counts = (0..<2_000).map { _ in Counter() }
    DispatchQueue.concurrentPerform(iterations: 3) { lane in
      switch lane {
      case 0:
        for value in 0..<2_000 { subject.send(value) }
      default:
        for counter in counts[((lane - 1) * 1_000)..<(lane * 1_000)] {
          let subscription = subject.sink { _ in counter.count() }
          subject.send(-1)
          subscription.cancel()
          counter.close()
        }
      }
    }
    #expect(counts.allSatisfy { $0.countBeforeClose > 0 })
  }

  @Test("who leaves from inside a value gets no more, also among many alike, who were told together before")
  func leaveAmongMany() {
    let subject = PassthroughSubject<Int, Never>()
    var received: [String] = []
    var subscriptions: [Int: AnyCancellable] = [:]
    for number in 0..<4 {
      subscriptions[number] = subject.sink { value in
        received.append("\(number):\(value)")
        if value == 3, number == 1 { subscriptions[2] = nil }
      }
    }
    for value in 1...4 { subject.send(value) }
    expectEqual(
      received,
      [
        "0:1", "1:1", "2:1", "3:1", "0:2", "1:2", "2:2", "3:2", "0:3", "1:3", "3:3", "0:4", "1:4", "3:4",
      ]
    )
  }

  @Test("who leaves in a round inside a round does not get the value of the outer one")
  func leaveInInnerRound() {
    let subject = PassthroughSubject<Int, Never>()
    var received: [String] = []
    var subscriptions: [Int: AnyCancellable] = [:]
    for number in 0..<4 {
      subscriptions[number] = subject.sink { value in
        received.append("\(number):\(value)")
        if value == 3, number == 0 {
          subscriptions[2] = nil
          // These make the list of subscribers anew, and find that all of it want everything.
          subject.send(30)
          subject.send(31)
        }
      }
    }
    for value in 1...3 { subject.send(value) }
    expectEqual(received.suffix(9), ["0:3", "0:30", "1:30", "3:30", "0:31", "1:31", "3:31", "1:3", "3:3"])
  }

  @Test("subscribers of several types, some with limited demand, are served in the order in which they came")
  func severalTypes() {
    let subject = PassthroughSubject<Int, Never>()
    var received: [String] = []
    let first = subject.sink { received.append("a\($0)") }
    let second = subject.sink { received.append("b\($0)") }
    let mapped = subject.map { $0 * 10 }.sink { received.append("c\($0)") }
    let limited = Recorder<Int, Never>(
      requesting: .max(2),
      answering: { value, _ in
        received.append("d\(value)")
        return .none
      }
    )
    subject.subscribe(limited)
    let last = subject.sink { received.append("e\($0)") }
    for value in 1...3 { subject.send(value) }
    limited.request(.unlimited)
    for value in 4...6 { subject.send(value) }
    let rounds = (1...6).map { "a\($0) b\($0) c\($0)0 \($0 == 3 ? "" : "d\($0) ")e\($0)" }
    expectEqual(received.joined(separator: " "), rounds.joined(separator: " "))
    for subscription in [first, second, mapped, last] { subscription.cancel() }
  }

  @Test("what a subscriber that leaves from inside a value had captured stays until the value has gone round")
  func capturedByLeaver() {
    final class Captured {}
    let subject = PassthroughSubject<Int, Never>()
    weak var captured: Captured?
    var wasAliveInside = false
    var subscription: AnyCancellable?
    do {
      let object = Captured()
      captured = object
      subscription = subject.sink { _ in
        subscription?.cancel()
        wasAliveInside = captured != nil
        withExtendedLifetime(object) {}
      }
    }
    subject.send(1)
    #expect(wasAliveInside)
    #expect(captured == nil)
  }
}

/// Counts, and remembers how far it got when it was closed.
private final class Counter: Sendable {
  private let state = Mutex<(count: Int, atClose: Int)>((0, 0))

  var countBeforeClose: Int { state.withLock { $0.atClose } }
  func count() { state.withLock { $0.count += 1 } }
  func close() { state.withLock { $0.atClose = $0.count } }
}
