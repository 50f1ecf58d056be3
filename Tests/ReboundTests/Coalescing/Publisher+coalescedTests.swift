import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

@Suite("coalesced(by:for:)")
struct PublisherCoalescedTests {
  private let coalescer = Coalescer<String, Int, TestFailure>()
  private let upstream = TestPublisher<Int, TestFailure>()

  private func subscribe(
    _ key: String = "oslo",
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(requesting: demand)
    upstream.coalesced(by: coalescer, for: key).subscribe(recorder)
    return recorder
  }

  @Test("subscribes once for a hundred subscribers, and gives each the value and the end")
  func hundred() {
    let recorders = (0..<100).map { _ in subscribe() }
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.requests, [.unlimited])
    upstream.send(1)
    upstream.send(completion: .finished)
    #expect(recorders.allSatisfy { $0.values == [1] && $0.isFinished && $0.subscriptionCount == 1 })
    expectEqual(coalescer.inFlightCount, 0)
  }

  @Test("keeps keys apart")
  func keys() {
    _ = subscribe("oslo")
    _ = subscribe("rome")
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(coalescer.inFlightCount, 2)
  }

  @Test("starts afresh after an end, a failure least of all is kept", arguments: [true, false])
  func notKept(fails: Bool) {
    let recorders = [subscribe(), subscribe()]
    upstream.send(completion: fails ? .failure(.transient) : .finished)
    #expect(recorders.allSatisfy { $0.failure == (fails ? .transient : nil) && $0.completions.count == 1 })
    _ = subscribe()
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("who has joined goes on outside of the call of who came first")
  func joinedFromAnotherCall() {
    let isOutside = Log<Bool>()
    let again = Deferred {
      isOutside.write(DecisionOrigin.current == nil && ForeignCall.current == nil)
      return Empty<Int, TestFailure>()
    }
    let recorders = [Recorder<Int, TestFailure>(), Recorder<Int, TestFailure>()]
    for recorder in recorders {
      upstream.coalesced(by: coalescer, for: "oslo").catch { _ in again }.subscribe(recorder)
    }
    DecisionOrigin.$current.withValue(DecisionOrigin(source: "first", events: PolicyEvents())) {
      ForeignCall.$current.withValue("first") { upstream.send(completion: .failure(.transient)) }
    }
    #expect(recorders.allSatisfy { $0.isFinished })
    expectEqual(isOutside.entries, [false, true])
  }

  @Test("starts afresh for who subscribes again from inside the failure")
  func again() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.coalesced(by: coalescer, for: "oslo")
      .catch { [upstream, coalescer] _ in upstream.coalesced(by: coalescer, for: "oslo") }
      .subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(7)
    expectEqual(recorder.values, [7])
  }

  @Test("gives late subscribers what has come, as they ask for it")
  func late() {
    let first = subscribe()
    upstream.send(1)
    upstream.send(2)
    let late = subscribe(requesting: .max(1))
    expectEqual(late.values, [1])
    upstream.send(completion: .finished)
    #expect(first.isFinished)
    #expect(!late.completions.contains { _ in true })
    late.request(.max(1))
    expectEqual(late.values, [1, 2])
    #expect(late.isFinished)
  }

  @Test("asks the upstream for as much as the one who wants most")
  func demand() {
    let (none, two, three) = (
      subscribe(requesting: .none), subscribe(requesting: .max(2)), subscribe(requesting: .max(3))
    )
    expectEqual(upstream.requests, [.max(2), .max(1)])
    two.request(.max(2))
    expectEqual(upstream.requests, [.max(2), .max(1), .max(1)])
    // The fifth is beyond what anyone has asked for.
    for value in 1...5 { upstream.send(value) }
    #expect(none.values.isEmpty)
    expectEqual(two.values, [1, 2, 3, 4])
    expectEqual(three.values, [1, 2, 3])
    none.request(.unlimited)
    expectEqual(none.values, [1, 2, 3, 4])
    expectEqual(upstream.requests.last, .unlimited)
  }

  @Test("adds the demand that a subscriber returns with a value")
  func answeredDemand() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { value, _ in value < 3 ? .max(1) : .none }
    )
    upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
    for value in 1...5 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("cancels the upstream when the last one cancels, and not before")
  func cancel() {
    let recorders = (0..<3).map { _ in subscribe() }
    recorders[0].cancel()
    recorders[2].cancel()
    recorders[2].cancel()
    expectEqual(upstream.cancelCount, 0)
    upstream.send(1)
    expectEqual(recorders.map(\.values), [[], [1], []])
    recorders[1].cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(coalescer.inFlightCount, 0)
    _ = subscribe()
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("may be cancelled from inside a value, the last one too")
  func cancelInside() {
    let recorders = (0..<2).map { _ in
      Recorder<Int, TestFailure>(answering: { _, recorder in
        recorder.cancel()
        return .max(1)
      })
    }
    for recorder in recorders { upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder) }
    upstream.send(1)
    expectEqual(recorders.map(\.values), [[1], [1]])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("delivers one value at a time, however much the downstream asks for inside of it", arguments: [true, false])
  func noNesting(isLate: Bool) {
    let keeper = subscribe()
    let depth = Log<Int>()
    let recorder = recorderAskingInside(depth)
    if isLate { for value in 1...3 { upstream.send(value) } }
    upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
    if !isLate { for value in 1...3 { upstream.send(value) } }
    expectEqual(depth.entries, [1, -1, 2, -2, 3, -3])
    upstream.send(completion: .finished)
    #expect(recorder.isFinished && keeper.isFinished)
  }

  @Test("keeps what has not been asked for when it ends, and gives it up with who leaves", arguments: [true, false])
  func slow(cancels: Bool) {
    let (slow, slower) = (subscribe(requesting: .none), subscribe(requesting: .max(1)))
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(slower.failure, .transient)
    expectEqual(coalescer.inFlightCount, 0)
    if cancels { slow.cancel() }
    slow.request(.max(1))
    expectEqual(slow.values, cancels ? [] : [1])
    expectEqual(slow.failure, cancels ? nil : .transient)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("lets go of a subscriber that has forgotten its subscription when the upstream ends")
  func forgotten() {
    final class Forgetful: Subscriber {
      func receive(subscription: any Subscription) {}
      func receive(_ input: Int) -> Subscribers.Demand { .none }
      func receive(completion: Subscribers.Completion<TestFailure>) {}
    }
    let recorder = subscribe()
    weak var released: Forgetful?
    do {
      let forgetful = Forgetful()
      released = forgetful
      upstream.coalesced(by: coalescer, for: "oslo").subscribe(forgetful)
    }
    #expect(released != nil)
    upstream.send(1)
    upstream.send(completion: .finished)
    #expect(recorder.isFinished)
    #expect(released == nil)
  }

  @Test("cancels an upstream that gives its subscription only after everyone has gone")
  func lateSubscription() {
    var connect: (() -> Void)?
    let inner = TestPublisher<Int, TestFailure>()
    let slow = TestPublisher<Int, TestFailure>(handingOver: { subscriber in connect = { inner.subscribe(subscriber) } })
    let recorder = Recorder<Int, TestFailure>()
    slow.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
    recorder.cancel()
    connect?()
    expectEqual(inner.cancelCount, 1)
  }

  @Test("cancels a second subscription of the upstream")
  func secondSubscription() {
    let intruder = TestPublisher<Int, TestFailure>()
    intruder.subscribe(Recorder(requesting: .none))
    _ = subscribe()
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("shares one upstream of synchronous values between nobody: each gets its own")
  func synchronous() {
    var subscriptions = 0
    let source = Deferred {
      subscriptions += 1
      return [1, 2, 3].publisher.setFailureType(to: TestFailure.self)
    }
    for _ in 0..<2 {
      let recorder = Recorder<Int, TestFailure>()
      source.coalesced(by: coalescer, for: "oslo").subscribe(recorder)
      expectEqual(recorder.values, [1, 2, 3])
      #expect(recorder.isFinished)
    }
    expectEqual(subscriptions, 2)
  }

  @Test("lets go of everything when it ends or is cancelled", arguments: [true, false])
  func releases(cancels: Bool) {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    do {
      let recorder = subscribe()
      weakRecorder = recorder
      if cancels { recorder.cancel() } else { upstream.send(completion: .finished) }
    }
    upstream.connections.forEach { $0.letGo() }
    #expect(weakRecorder == nil)
  }

  @Test(
    "gives everyone all values and one end, in order, however subscribers and values meet",
    arguments: 0..<30 as Range<UInt64>
  )
  func race(seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    let pauses = (0..<4).map { _ in Int.random(in: 0..<2_000, using: &numbers) }
    let recorders = (0..<30).map { _ in Recorder<Int, TestFailure>(requesting: .max(100)) }
    let keeper = subscribe()
    let (upstream, coalescer) = (upstream, coalescer)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var spins = 0
      while spins < pauses[thread] { spins += 1 }
      if thread == 0 {
        for value in 0..<100 { upstream.send(value) }
      } else {
        for index in stride(from: thread - 1, to: 30, by: 3) {
          upstream.coalesced(by: coalescer, for: "oslo").subscribe(recorders[index])
          if index % 5 == 0 { recorders[index].cancel() }
        }
      }
    }
    upstream.send(completion: .finished)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(keeper.values, Array(0..<100))
    for (index, recorder) in recorders.enumerated() where index % 5 != 0 {
      expectEqual(recorder.values, Array(0..<100))
      expectEqual(recorder.completions.count, 1)
    }
  }
}
