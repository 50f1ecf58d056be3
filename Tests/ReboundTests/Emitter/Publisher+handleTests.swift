import Combine
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

extension Publisher {
  /// The example of the documentation.
  fileprivate func pairwise() -> some Publisher<[Output], Failure> {
    handle("Pairwise", remembering: Output?.none) { last, value, emitter in
      if let last { emitter.send([last, value]) }
      last = value
    } completion: { _, end, emitter in
      emitter.send(completion: end)
    }
  }
}

@Suite("Publisher.handle")
struct PublisherHandleTests {
  @Test("sends what the closure sends, with a memory of its own for each subscriber")
  func pairs() {
    let pairs = [1, 2, 3].publisher.pairwise()
    for _ in 0..<2 {
      let recorder = Recorder<[Int], Never>()
      pairs.subscribe(recorder)
      expectEqual(recorder.values, [[1, 2], [2, 3]])
      expectEqual(recorder.completions, [.finished])
    }
  }

  @Test("makes good a value for which nothing is sent, and asks for no more than that")
  func demand() {
    let upstream = TestPublisher<Int, Never>()
    let recorder = Recorder<[Int], Never>(requesting: .max(1))
    upstream.pairwise().subscribe(recorder)
    expectEqual(upstream.requests, [.max(1)])
    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(2), .none)
    expectEqual(recorder.values, [[1, 2]])
  }

  @Test("keeps what is sent beyond the demand, and the end behind it")
  func kept() {
    let recorder = Recorder<Int, Never>(requesting: .max(1))
    [1].publisher
      .handle { (value: Int, emitter: Emitter<Int, Never>) in
        emitter.send(value)
        emitter.send(value + 1)
      } completion: { end, emitter in
        emitter.send(completion: end)
      }
      .subscribe(recorder)
    expectEqual(recorder.values, [1])
    #expect(recorder.completions.isEmpty)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completions, [.finished])
  }

  @Test("a closure that ends it is called no more, and the upstream is cancelled before the end comes")
  func ended() {
    let upstream = TestPublisher<Int, TestFailure>()
    var cancelsAtEnd = -1
    let recorder = Recorder<Int, TestFailure>(whenCompleted: { cancelsAtEnd = upstream.cancelCount })
    var calls = 0
    upstream
      .handle { (_: Int, emitter: Emitter<Int, TestFailure>) in
        calls += 1
        emitter.send(completion: .failure(.transient))
        emitter.send(1)
      } completion: { end, emitter in
        emitter.send(completion: end)
      }
      .subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .finished)
    expectEqual(calls, 1)
    expectEqual(recorder.values, [])
    expectEqual(recorder.completions, [.failure(.transient)])
    expectEqual(cancelsAtEnd, 1)
  }

  @Test("nothing comes back into a closure: what a subscriber asks for inside of a value comes after it")
  func reentrancy() {
    var depth = 0
    var deepest = 0
    let recorder = Recorder<Int, Never>(requesting: .max(1), answering: { _, _ in .max(1) })
    (1...1_000).publisher
      .handle("Sum", remembering: 0) { (sum: inout Int, value: Int, emitter: Emitter<Int, Never>) in
        depth += 1
        deepest = max(deepest, depth)
        sum += value
        emitter.send(sum)
        depth -= 1
      } completion: { _, end, emitter in
        emitter.send(completion: end)
      }
      .subscribe(recorder)
    expectEqual(deepest, 1)
    expectEqual(recorder.values.count, 1_000)
    expectEqual(recorder.values.last, 500_500)
  }

  @Test("what a closure has the upstream send is handled after it, in order, with the end behind it")
  func sendsUpstream() {
    let upstream = PassthroughSubject<Int, Never>()
    let recorder = Recorder<Int, Never>(requesting: .max(3))
    upstream
      .handle("Sum", remembering: 0) { (sum: inout Int, value: Int, emitter: Emitter<Int, Never>) in
        sum += value
        if value == 1 {
          upstream.send(2)
          upstream.send(3)
          upstream.send(completion: .finished)
        }
        if value != 2 { emitter.send(sum) }
      } completion: { sum, end, emitter in
        emitter.send(sum * 10)
        emitter.send(completion: end)
      }
      .subscribe(recorder)
    upstream.send(1)
    expectEqual(recorder.values, [1, 6, 60])
    expectEqual(recorder.completions, [.finished])
  }

  @Test("a value from inside a closure for which nothing is sent is made good")
  func demandFromInside() {
    let upstream = TestPublisher<Int, Never>()
    let recorder = Recorder<Int, Never>(requesting: .max(2))
    upstream
      .handle { (value: Int, emitter: Emitter<Int, Never>) in
        if value == 1 { upstream.send(2) }
        if value == 1 { emitter.send(value) }
      } completion: { end, emitter in
        emitter.send(completion: end)
      }
      .subscribe(recorder)
    expectEqual(upstream.send(1), .max(1))
    expectEqual(recorder.values, [1])
  }

  @Test("the closure for the end may send values before it, as they are asked for")
  func lastValues() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    [1, 2, 3].publisher
      .handle("Count", remembering: 0) { (count: inout Int, _: Int, _: Emitter<Int, Never>) in
        count += 1
      } completion: { count, end, emitter in
        emitter.send(count)
        emitter.send(completion: end)
      }
      .subscribe(recorder)
    expectEqual(recorder.values, [])
    recorder.request(.max(1))
    expectEqual(recorder.values, [3])
    expectEqual(recorder.completions, [.finished])
  }

  @Test("passes a cancel up, and lets go of what its memory holds")
  func cancelled() {
    let upstream = TestPublisher<Int, Never>()
    weak var released: Marker?
    do {
      let marker = Marker()
      released = marker
      let recorder = Recorder<Int, Never>()
      upstream
        .handle("Holder", remembering: marker) { (_: inout Marker, value: Int, emitter: Emitter<Int, Never>) in
          emitter.send(value)
        } completion: { _, end, emitter in
          emitter.send(completion: end)
        }
        .subscribe(recorder)
      recorder.cancel()
    }
    expectEqual(upstream.cancelCount, 1)
    #expect(released == nil)
  }

  @Test("refuses a second subscription, and shows its name")
  func second() {
    let upstream = TestPublisher<Int, Never>()
    let recorder = Recorder<[Int], Never>()
    upstream.pairwise().subscribe(recorder)
    let another = EventLog<Void>()
    upstream.connections.first?.send(subscription: AnyCancellableSubscription { another.write(()) })
    expectEqual(another.count, 1)
    expectEqual(recorder.subscription.map { "\($0)" }, "Pairwise")
  }
}

private final class Marker {}

/// A subscription that says when it is cancelled.
private struct AnyCancellableSubscription: Subscription {
  let whenCancelled: () -> Void
  let combineIdentifier = CombineIdentifier()

  func request(_ demand: Subscribers.Demand) {}
  func cancel() { whenCancelled() }
}
