import Combine
import Dispatch
import ReboundTesting
import StreamSupport
import Testing

@Suite("AnyCancellable")
struct AnyCancellableTests {
  /// Counts from any thread.
  ///
  /// Unchecked, because the lock guards the number.
  final class Counter: @unchecked Sendable {
    private let lock = Lock()
    private var number = 0
    var count: Int { lock.withLock { number } }
    func increment() { lock.withLock { number += 1 } }
  }

  struct Structure: Cancellable {
    let counter: Counter
    func cancel() { counter.increment() }
  }

  final class Object: Cancellable {
    let counter: Counter
    init(_ counter: Counter) { self.counter = counter }
    func cancel() { counter.increment() }
  }

  @Test("closures, structures, objects and other handles are cancelled once, by hand or on release")
  func cancelsOnce() {
    let counter = Counter()
    let makers: [() -> AnyCancellable] = [
      { AnyCancellable { counter.increment() } },
      { AnyCancellable(Structure(counter: counter)) },
      { AnyCancellable(Object(counter)) },
      { AnyCancellable(AnyCancellable(Object(counter))) },
    ]
    for (index, make) in makers.enumerated() {
      let cancellable = make()
      cancellable.cancel()
      cancellable.cancel()
      #expect(counter.count == 2 * index + 1)
      _ = make()
      #expect(counter.count == 2 * index + 2)
    }
  }

  @Test("what it holds is let go by a cancel")
  func letsGo() {
    let counter = Counter()
    weak var released: Object?
    let cancellable = {
      let object = Object(counter)
      released = object
      return AnyCancellable(object)
    }()
    #expect(released != nil)

    cancellable.cancel()

    #expect(released == nil)
  }

  @Test("cancelled on many threads it cancels once")
  func threads() {
    let counter = Counter()
    for round in 1...100 {
      // Cancelling on any thread is what is tested.
      nonisolated(unsafe) let cancellable = AnyCancellable { counter.increment() }
      DispatchQueue.concurrentPerform(iterations: 4) { _ in cancellable.cancel() }
      #expect(counter.count == round)
    }
  }

  @Test("it is kept in sets and collections as it is, and equal to itself only")
  func stores() {
    let counter = Counter()
    var set: Set<AnyCancellable> = []
    var array: [AnyCancellable] = []
    let first = AnyCancellable(Object(counter))
    first.store(in: &set)
    first.store(in: &array)
    Structure(counter: counter).store(in: &set)

    #expect(set.contains(first) && array == [first])
    #expect(set.count == 2)
    set = []
    #expect(counter.count == 1)
  }
}
