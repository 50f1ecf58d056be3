import Combine
import Dispatch
import Expectations
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
      expectEqual(counter.count, 2 * index + 1)
      _ = make()
      expectEqual(counter.count, 2 * index + 2)
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
      expectEqual(counter.count, round)
    }
  }

  /// A collection that writes down what is done to it.
  struct Diary: RangeReplaceableCollection {
    private var elements: [AnyCancellable] = []
    private(set) var log: [String] = []

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { elements.count }
    func index(after index: Int) -> Int { index + 1 }
    subscript(index: Int) -> AnyCancellable { elements[index] }

    mutating func append(_ element: AnyCancellable) {
      log.append("append")
      elements.append(element)
    }

    mutating func append<S: Sequence>(contentsOf new: S) where S.Element == AnyCancellable {
      log.append("append several")
      elements.append(contentsOf: new)
    }

    mutating func insert(_ element: AnyCancellable, at index: Int) {
      log.append("insert")
      elements.insert(element, at: index)
    }

    mutating func replaceSubrange<C: Collection>(_ range: Range<Int>, with new: C) where C.Element == AnyCancellable {
      log.append("replace")
      elements.replaceSubrange(range, with: new)
    }

    mutating func reserveCapacity(_ count: Int) { log.append("reserve") }
  }

  @Test("a collection is asked to append it once, and for nothing else")
  func storesByOneAppend() {
    let counter = Counter()
    var diary = Diary()
    let handle = AnyCancellable(Object(counter))
    handle.store(in: &diary)
    expectEqual(diary.log, ["append"])
    #expect(diary.first === handle)
    Structure(counter: counter).store(in: &diary)
    expectEqual(diary.log, ["append", "append"])
    #expect(diary.count == 2 && counter.count == 0)
    diary = Diary()
    handle.cancel()
    expectEqual(counter.count, 2)
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
    expectEqual(set.count, 2)
    set = []
    expectEqual(counter.count, 1)
  }
}
