import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

@Suite("Emitter")
struct EmitterTests {
  private typealias Subject = Emitter<Int, TestFailure>

  private let requests = EventLog<Subscribers.Demand>()
  private let cancels = EventLog<Void>()

  private func begin(_ emitter: Subject) {
    emitter.begin(whenRequested: { requests.write($1) }, whenCancelled: { cancels.write(()) })
  }

  @Test("keeps what nobody has asked for, and the end behind it")
  func keeps() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    let emitter = Subject(named: "Test", to: recorder)
    for value in 1...2 { emitter.send(value) }
    begin(emitter)
    emitter.send(3)
    emitter.send(completion: .failure(.transient))
    expectEqual(recorder.values, [1])
    #expect(recorder.completion == nil)
    recorder.request(.max(2))
    expectEqual(recorder.values, [1, 2, 3])
    expectEqual(recorder.failure, .transient)
    expectEqual(requests.events, [.max(1), .max(2)])
    expectEqual(cancels.count, 0)
  }

  @Test("delivers what comes before it begins behind the subscription")
  func early() {
    let recorder = Recorder<Int, TestFailure>()
    let emitter = Subject(named: "Test", to: recorder)
    emitter.send(1)
    emitter.send(completion: .finished)
    #expect(recorder.events.isEmpty)
    begin(emitter)
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("begins once")
  func second() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    let emitter = Subject(named: "Test", to: recorder)
    begin(emitter)
    #expect(!emitter.begin(whenRequested: { _, _ in }, whenCancelled: {}))
    expectEqual(recorder.subscriptionCount, 1)
  }

  @Test("drops what is sent only if it is requested, counting what waits")
  func onlyIfRequested() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    let emitter = Subject(named: "Test", to: recorder)
    begin(emitter)
    emitter.sendIfRequested(1)
    emitter.send(2)
    recorder.request(.max(2))
    emitter.sendIfRequested(3)
    emitter.sendIfRequested(4)
    expectEqual(recorder.values, [2, 3])
  }

  @Test("a value that waits for its delivery takes up the demand that it will meet")
  func requestedByAnother() {
    var emitter: Subject?
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { value, _ in
        guard value == 1 else { return .none }
        emitter?.sendIfRequested(2)
        emitter?.sendIfRequested(3)
        return .none
      }
    )
    let subject = Subject(named: "Test", to: recorder)
    emitter = subject
    begin(subject)
    subject.send(1)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2])
    emitter = nil
  }

  @Test("asks for nothing behind the end, and says that nothing is sent there, also while the end waits")
  func behindTheEnd() {
    var emitter: Subject?
    let (isSent, requested) = (Log<Bool>(), Log<Subscribers.Demand>())
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(5),
      answering: { _, _ in
        emitter?.send(completion: .finished)
        isSent.write(emitter?.sendIfRequested(2) ?? true)
        requested.write(emitter?.requested ?? .max(9))
        return .none
      }
    )
    let subject = Subject(named: "Test", to: recorder)
    emitter = subject
    begin(subject)
    subject.send(1)
    expectEqual(isSent.entries, [false])
    expectEqual(requested.entries, [.none])
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
    emitter = nil
  }

  @Test("delivers one value at a time, however much the downstream asks for inside of it")
  func noNesting() {
    let depth = Log<Int>()
    let emitter = Subject(named: "Test", to: recorderAskingInside(depth))
    for value in 1...3 { emitter.send(value) }
    begin(emitter)
    expectEqual(depth.entries, [1, -1, 2, -2, 3, -3])
  }

  @Test("holds everything back in a pause, and cancels it with the subscription")
  func pause() {
    let scheduler = TestScheduler()
    let recorder = Recorder<Int, TestFailure>()
    let emitter = Subject(named: "Test", to: recorder)
    begin(emitter)
    emitter.pause { scheduler.time.after(.seconds(1), $0) }
    emitter.send(1)
    emitter.pause { scheduler.time.after(.seconds(1), $0) }
    emitter.send(2)
    #expect(recorder.values.isEmpty)
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [1])
    recorder.cancel()
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(cancels.count, 1)
  }

  @Test("tells its source of a cancel once, and not after the source was let go of", arguments: [true, false])
  func cancel(letsGo: Bool) {
    let recorder = Recorder<Int, TestFailure>()
    let emitter = Subject(named: "Test", to: recorder)
    begin(emitter)
    if letsGo { emitter.letGoOfSource(cancelling: false) }
    emitter.cancel()
    emitter.cancel()
    emitter.send(1)
    expectEqual(cancels.count, letsGo ? 0 : 1)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("cancels its source when it is released")
  func released() {
    do {
      let emitter = Subject(named: "Test", to: AnySubscriber<Int, TestFailure>())
      begin(emitter)
    }
    expectEqual(cancels.count, 1)
  }

  @Test("delivers all values in order, the end last, from whichever threads requests come")
  func threads() {
    for _ in 0..<50 {
      let recorder = Recorder<Int, TestFailure>(requesting: .none)
      let emitter = Subject(named: "Test", to: recorder)
      begin(emitter)
      DispatchQueue.concurrentPerform(iterations: 3) { index in
        if index == 0 {
          for value in 0..<100 { emitter.send(value) }
          emitter.send(completion: .finished)
        } else {
          for _ in 0..<50 { emitter.request(.max(1)) }
        }
      }
      expectEqual(recorder.values, Array(0..<100))
      #expect(recorder.isFinished)
    }
  }
}
