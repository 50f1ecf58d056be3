import Combine
import Expectations
import Observation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@MainActor @Suite("Publishers.Observed", .timeLimit(.minutes(10)))
struct ObservedTests {
  private let received = Log<String>()

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("publishes the present value, and one after each change")
  func changes() async {
    let model = Model()
    let recorder = recorder()
    observed(model).subscribe(recorder)
    await received.until(1)
    model.name = "b"
    await received.until(2)
    model.name = "c"
    await received.until(3)
    recorder.cancel()
    expectEqual(recorder.values, ["a", "b", "c"])
    #expect(recorder.completion == nil)
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("makes one value of all changes of one turn: the last")
  func turn() async {
    let model = Model()
    let recorder = recorder()
    Publishers.Observed { "\(model.name)\(model.age)" }.subscribe(recorder)
    await received.until(1)
    model.name = "b"
    model.age = 1
    model.name = "c"
    await received.until(2)
    model.age = 2
    await received.until(3)
    recorder.cancel()
    expectEqual(recorder.values, ["a0", "c1", "c2"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("does not publish for a property that the closure does not read")
  func otherProperty() async {
    let model = Model()
    let recorder = recorder()
    observed(model).subscribe(recorder)
    await received.until(1)
    await change(of: model) { model.age = 1 }
    model.name = "b"
    await received.until(2)
    recorder.cancel()
    expectEqual(recorder.values, ["a", "b"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("reads nothing before the first request")
  func firstRequest() async {
    let model = Model()
    let recorder = recorder(requesting: .none)
    observed(model).subscribe(recorder)
    model.name = "b"
    recorder.request(.max(1))
    await received.until(1)
    recorder.cancel()
    expectEqual(recorder.values, ["b"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("keeps no values that nobody has asked for: a later request gets what holds then, at once")
  func finiteDemand() async {
    let model = Model()
    let recorder = recorder(requesting: .max(1))
    observed(model).subscribe(recorder)
    await received.until(1)
    for name in ["b", "c", "d"] {
      await change(of: model) { model.name = name }
    }
    expectEqual(recorder.values, ["a"])
    recorder.request(.max(2))
    await received.until(2)
    expectEqual(recorder.values, ["a", "d"])
    model.name = "e"
    await received.until(3)
    await change(of: model) { model.name = "f" }
    recorder.cancel()
    expectEqual(recorder.values, ["a", "d", "e"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("publishes what a subscriber changes when it is sent a value, behind that value")
  func sendingFromInside() async {
    let model = Model()
    let recorder = Recorder<String, Never>(answering: { [received] value, _ in
      // On the main thread, as the closure is the main actor's.
      MainActor.assumeIsolated { if model.age < 3 { (model.age, model.name) = (model.age + 1, model.name + "a") } }
      received.write(value)
      return .none
    })
    observed(model).subscribe(recorder)
    await received.until(4)
    recorder.cancel()
    expectEqual(recorder.values, ["a", "aa", "aaa", "aaaa"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("a subscriber can cancel when it is sent a value")
  func cancelFromInside() async {
    let lease = AsyncStream<Void>.makeStream()
    do {
      let own = Model()
      let ending = Ending(continuation: lease.continuation)
      let cancellable = Locked<AnyCancellable?>(nil)
      let subscription = Publishers.Observed { withExtendedLifetime(ending) { own.name } }
        .sink { [received] name in
          received.write(name)
          _ = cancellable.exchange(nil)
        }
      _ = cancellable.exchange(subscription)
      await received.until(1)
      own.name = "b"
    }
    for await _ in lease.stream { break }
    expectEqual(received.entries, ["a"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test(
    "lets go of the closure and what it holds when it is cancelled, and publishes nothing more",
    arguments: [false, true]
  )
  func cancel(waiting: Bool) async {
    let lease = AsyncStream<Void>.makeStream()
    weak var released: Model?
    let recorder = recorder(requesting: waiting ? .unlimited : .max(1))
    do {
      let own = Model()
      released = own
      let ending = Ending(continuation: lease.continuation)
      Publishers.Observed { withExtendedLifetime(ending) { own.name } }.subscribe(recorder)
      await received.until(1)
      recorder.cancel()
      own.name = "b"
    }
    for await _ in lease.stream { break }
    #expect(released == nil)
    expectEqual(recorder.values, ["a"])
    #expect(recorder.completion == nil)
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("does not keep an object that the closure captures weakly")
  func weakObject() async {
    let recorder = recorder()
    weak var released: Model?
    do {
      let own = Model()
      released = own
      Publishers.Observed { [weak own] in own?.name ?? "none" }.subscribe(recorder)
      await received.until(1)
    }
    #expect(released == nil)
    recorder.cancel()
    expectEqual(recorder.values, ["a"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("observes anew for each subscriber")
  func subscribers() async {
    let model = Model()
    let (first, second) = (recorder(), recorder())
    observed(model).subscribe(first)
    await received.until(1)
    model.name = "b"
    await received.until(2)
    observed(model).subscribe(second)
    await received.until(3)
    first.cancel()
    second.cancel()
    expectEqual(first.values, ["a", "b"])
    expectEqual(second.values, ["b"])
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("publishes what an actor of one's own keeps, in that actor, though the object is not Sendable")
  func ownActor() async {
    let owner = Owner()
    let (values, next) = AsyncStream<Int>.makeStream()
    await owner.follow { next.yield($0) }
    await owner.increment(by: 1)
    for await value in values where value == 1 { break }
    await owner.increment(by: 2)
    for await value in values {
      expectEqual(value, 3)
      break
    }
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("misses no change that comes between reading and observing")
  func changeBeforeObservation() async {
    let counter = GuardedCounter()
    let isFirst = Locked(true)
    let observed = Publishers.Observed.guarded {
      let count = counter.count
      if isFirst.exchange(false) { counter.increment() }
      return count
    }
    for await value in observed.values {
      expectEqual(value, 1)
      break
    }
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test("misses no change of many threads when one lock guards reading and the whole assignment")
  func concurrentChanges() async {
    let counter = GuardedCounter()
    let total = 4_000
    let writing = Task.detached {
      await withTaskGroup { group in
        for _ in 0..<4 { group.addTask { for _ in 0..<(total / 4) { counter.increment() } } }
      }
    }
    var values: [Int] = []
    for await value in Publishers.Observed.guarded({ counter.count }).values {
      values.append(value)
      if value == total { break }
    }
    await writing.value
    expectEqual(values, values.sorted())
    expectEqual(values.last, total)
  }

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  private func observed(_ model: Model) -> Publishers.Observed<String> { Publishers.Observed { model.name } }

  private func recorder(requesting demand: Subscribers.Demand = .unlimited) -> Recorder<String, Never> {
    Recorder(
      requesting: demand,
      answering: { [received] value, _ in
        received.write(value)
        return .none
      }
    )
  }

  /// Makes a change, and returns when another subscriber has been sent it.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  private func change(of model: Model, _ change: () -> Void) async {
    let seen = Log<String>()
    let other = Publishers.Observed { "\(model.name)\(model.age)" }.sink { seen.write($0) }
    await seen.until(1)
    change()
    await seen.until(2)
    other.cancel()
  }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable private final class Model {
  var name = "a"
  var age = 0
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@Observable private final class Counter {
  var count = 0
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private actor Owner {
  private let counter = Counter()
  private var following: AnyCancellable?

  func increment(by difference: Int) { counter.count += difference }

  func follow(_ receive: @escaping @Sendable (Int) -> Void) {
    following = Publishers.Observed { [counter] in counter.count }.sink { value in
      self.assertIsolated()
      receive(value)
    }
  }
}

/// Assigns with the lock held, as the publisher asks for.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private final class GuardedCounter: Sendable {
  private let counter = Locked(Counter())

  var count: Int { counter.withLock { $0.count } }
  func increment() { counter.withLock { $0.count += 1 } }
}

/// Says when what holds it is released.
private final class Ending: Sendable {
  private let continuation: AsyncStream<Void>.Continuation

  init(continuation: AsyncStream<Void>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.yield() }
}
