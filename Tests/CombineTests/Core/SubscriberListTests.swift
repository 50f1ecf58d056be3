import Dispatch
import Expectations
import ReboundTesting
import StreamSupport
import Testing

@testable import Combine

@Suite("a list of subscribers")
struct SubscriberListTests {
  /// Counts how many of its inner publishers live, from any thread.
  ///
  /// Unchecked, because the lock guards the count.
  final class Nursery: @unchecked Sendable {
    private let lock = Lock()
    private var livingCount = 0
    var count: Int { lock.withLock { livingCount } }
    func child() -> Child { Child(self) }

    final class Child {
      private let nursery: Nursery
      init(_ nursery: Nursery) {
        self.nursery = nursery
        nursery.lock.withLock { nursery.livingCount += 1 }
      }
      func touch() {}
      deinit { nursery.lock.withLock { nursery.livingCount -= 1 } }
    }
  }

  @Test("those who leave while values go round on other threads are let go, and those who stay miss nothing")
  func leavingDuringRounds() {
    // Sending, subscribing and cancelling on any thread is what is tested.
    nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
    let nursery = Nursery()
    let staying = Recorder<Int, Never>()
    subject.subscribe(staying)

    DispatchQueue.concurrentPerform(iterations: 4) { index in
      for round in 0..<300 {
        if index < 2 {
          subject.send(round)
        } else {
          let child = nursery.child()
          let cancellable = subject.map { $0 + 1 }.sink { _ in child.touch() }
          cancellable.cancel()
        }
      }
    }

    expectEqual(staying.values.count, 600)
    subject.send(0)
    expectEqual(nursery.count, 0)
  }

  @Test("what inner rounds replaced goes when the outermost round ends, though nobody has left")
  func snapshotsOfInnerRounds() {
    let subject = PassthroughSubject<Int, Never>()
    let list = subject.broadcaster
    var (cancellables, counts): ([AnyCancellable], [Int]) = ([], [])
    cancellables.append(
      subject.sink { value in
        guard value > 0 else { return }
        for _ in 0..<3 {
          cancellables.append(subject.sink { _ in })
          subject.send(0)
        }
        counts.append(list.olderSnapshots.count)
      }
    )
    for _ in 0..<2 {
      subject.send(1)
      #expect(list.olderSnapshots.isEmpty)
    }

    expectEqual(counts, [3, 3])
  }

  @Test("who leaves between rounds is let go at once")
  func leavingBetweenRounds() {
    let subject = PassthroughSubject<Int, Never>()
    let nursery = Nursery()
    let cancellables = (0..<3).map { _ in
      let child = nursery.child()
      return subject.sink { _ in child.touch() }
    }
    subject.send(1)
    expectEqual(nursery.count, 3)

    cancellables[1].cancel()
    expectEqual(nursery.count, 2)
    cancellables[2].cancel()
    cancellables[0].cancel()
    expectEqual(nursery.count, 0)
  }

  @Test("nothing is kept of who leaves, whoever has left before")
  func subscriptionsOfThoseWhoLeave() {
    let subject = PassthroughSubject<Int, Never>()
    let keepers = (0..<4).map { _ in Keeper<Int, Never>() }
    for keeper in keepers { subject.subscribe(keeper) }
    for index in [0, 2, 1] {
      weak var left: AnyObject?
      do {
        let subscription = keepers[index].subscription
        left = subscription as AnyObject
        subscription?.cancel()
      }
      keepers[index].subscription = nil
      subject.send(index)
      #expect(left == nil, "the one at \(index)")
    }
  }

  @Test("who leaves from inside a round is let go when it ends, and gets nothing more of it")
  func leavingInside() {
    let subject = PassthroughSubject<Int, Never>()
    let nursery = Nursery()
    var second: AnyCancellable?
    var values: [Int] = []
    let first = subject.sink { _ in second?.cancel() }
    let child = nursery.child
    second = {
      let child = child()
      return subject.sink {
        child.touch()
        values.append($0)
      }
    }()

    subject.send(1)

    expectEqual(values, [])
    expectEqual(nursery.count, 0)
    first.cancel()
  }

  @Test("current values sent and read on many threads are whole, and the last one is what everybody has")
  func currentValues() {
    // Sending and reading on any thread is what is tested.
    nonisolated(unsafe) let texts = CurrentValueSubject<String, Never>("a text too long to be kept in place")
    nonisolated(unsafe) let numbers = CurrentValueSubject<Int, Never>(0)
    let lastText = Recorder<String, Never>()
    let lastNumber = Recorder<Int, Never>()
    DispatchQueue.concurrentPerform(iterations: 4) { index in
      if index == 0 {
        texts.subscribe(lastText)
        numbers.subscribe(lastNumber)
      }
      for round in 0..<300 {
        texts.send("a text too long to be kept in place, \(index) \(round)")
        numbers.value = index * 1_000 + round
        #expect(texts.value.hasPrefix("a text"))
        #expect(numbers.value % 1_000 < 300)
      }
    }

    expectEqual(lastText.values.last, texts.value)
    expectEqual(lastNumber.values.last, numbers.value)
  }
}
