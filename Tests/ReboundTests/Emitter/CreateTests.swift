import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

@Suite("Publishers.Create")
struct CreateTests {
  @Test("starts anew for each subscriber, and publishes what the closure sends")
  func each() {
    var starts = 0
    let source = Publishers.Create<Int, Never> { emitter in
      starts += 1
      emitter.send(starts)
      emitter.send(completion: .finished)
      return nil
    }
    for expected in 1...2 {
      let recorder = Recorder<Int, Never>()
      source.subscribe(recorder)
      expectEqual(recorder.values, [expected])
      expectEqual(recorder.completions, [.finished])
    }
  }

  @Test("keeps what nobody has asked for, or drops it, as the closure says")
  func demand() {
    var emitter: Emitter<Int, Never>?
    let recorder = Recorder<Int, Never>(requesting: .max(1))
    Publishers.Create<Int, Never> {
      emitter = $0
      return nil
    }
    .subscribe(recorder)
    expectEqual(emitter?.requested, .max(1))
    expectEqual(emitter?.sendIfRequested(1), true)
    expectEqual(emitter?.sendIfRequested(2), false)
    emitter?.send(3)
    expectEqual(recorder.values, [1])
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 3])
  }

  @Test("tells a source that makes its values upon request how many are asked for")
  func pull() {
    var next = 0
    let numbers = Publishers.Create<Int, Never>(
      "Numbers",
      whenRequested: { emitter, demand in
        for _ in 0..<(demand.max ?? 0) {
          next += 1
          emitter.send(next)
        }
      },
      start: { _ in nil }
    )
    let recorder = Recorder<Int, Never>(requesting: .max(2))
    numbers.subscribe(recorder)
    recorder.request(.max(3))
    expectEqual(recorder.values, [1, 2, 3, 4, 5])
  }

  @Test("cancels what the closure has returned when the subscriber cancels, once")
  func cancelled() {
    let cancels = EventLog<Void>()
    let recorder = Recorder<Int, Never>()
    Publishers.Create<Int, Never> { _ in AnyCancellable { cancels.write(()) } }.subscribe(recorder)
    expectEqual(cancels.count, 0)
    recorder.cancel()
    recorder.cancel()
    expectEqual(cancels.count, 1)
  }

  @Test("starts nothing for a subscriber that cancels as soon as it has its subscription")
  func cancelledAtOnce() {
    var starts = 0
    let source = Publishers.Create<Int, Never> { _ in
      starts += 1
      return nil
    }
    source.subscribe(
      AnySubscriber<Int, Never>(receiveSubscription: { $0.cancel() }, receiveValue: nil, receiveCompletion: nil)
    )
    expectEqual(starts, 0)
  }

  @Test("cancels what is returned after the subscriber has cancelled inside of the closure")
  func cancelledInside() {
    let cancels = EventLog<Void>()
    var subscription: AnyCancellable?
    let subject = PassthroughSubject<Void, Never>()
    subscription =
      subject
      .flatMap { _ in
        Publishers.Create<Int, Never> { _ in
          subscription?.cancel()
          return AnyCancellable { cancels.write(()) }
        }
      }
      .sink { _ in }
    subject.send()
    expectEqual(cancels.count, 1)
  }

  @Test("lets go of the closure's work at the end, and takes nothing behind it")
  func ended() {
    weak var released: Work?
    var emitter: Emitter<Int, Never>?
    let recorder = Recorder<Int, Never>()
    Publishers.Create<Int, Never> {
      emitter = $0
      let work = Work()
      released = work
      return work
    }
    .subscribe(recorder)
    #expect(released != nil)
    emitter?.send(completion: .finished)
    emitter?.send(1)
    emitter?.send(completion: .finished)
    #expect(released == nil)
    expectEqual(emitter?.isActive, false)
    expectEqual(recorder.values, [])
    expectEqual(recorder.completions, [.finished])
  }

  @Test("events sent on many threads come one after the other, and the end last")
  func threads() {
    let recorder = Recorder<Int, Never>()
    Publishers.Create<Int, Never> { emitter in
      DispatchQueue.concurrentPerform(iterations: 200) { emitter.send($0) }
      emitter.send(completion: .finished)
      return nil
    }
    .subscribe(recorder)
    expectEqual(recorder.values.sorted(), Array(0..<200))
    expectEqual(recorder.completions, [.finished])
  }
}

private final class Work: Cancellable {
  func cancel() {}
}
