import Combine
import Dispatch
import Expectations
import Foundation
import ReboundTesting
import Testing

@Suite("The latest value, for all who have not got it")
struct CurrentValueBroadcasterTests {
  @Test("a request while another thread is inside does not wait, and is served by that thread")
  func requestDoesNotWait() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let isInside = DispatchSemaphore(value: 0)
    let mayLeave = DispatchSemaphore(value: 0)
    let waiting = Recorder<Int, Never>(requesting: .none)
    let blocking = Recorder<Int, Never>(
      requesting: .max(2),
      answering: { value, _ in
        if value == 1 {
          isInside.signal()
          mayLeave.wait()
        }
        return .none
      }
    )
    subject.subscribe(waiting)
    subject.subscribe(blocking)
    let shared = SharedUnchecked(subject)
    let hasSent = DispatchSemaphore(value: 0)
    // A thread of its own: a pool may have none to spare for work that blocks.
    Thread.detachNewThread {
      shared.value.send(1)
      hasSent.signal()
    }
    isInside.wait()
    waiting.request(.max(1))
    mayLeave.signal()
    hasSent.wait()
    expectEqual(waiting.values, [1])
  }

  @Test("who asks again from inside a value that it waited for does not get the same value twice")
  func requestInsideWhileWaiting() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let isInside = DispatchSemaphore(value: 0)
    let mayLeave = DispatchSemaphore(value: 0)
    let blocking = Recorder<Int, Never>(
      requesting: .max(2),
      answering: { value, _ in
        if value == 1 {
          isInside.signal()
          mayLeave.wait()
        }
        return .none
      }
    )
    let waiting = Recorder<Int, Never>(
      requesting: .none,
      answering: { _, recorder in
        recorder.request(.max(1))
        return .none
      }
    )
    subject.subscribe(blocking)
    subject.subscribe(waiting)
    let shared = SharedUnchecked(subject)
    let hasSent = DispatchSemaphore(value: 0)
    // A thread of its own: a pool may have none to spare for work that blocks.
    Thread.detachNewThread {
      shared.value.send(1)
      hasSent.signal()
    }
    isInside.wait()
    waiting.request(.max(1))
    mayLeave.signal()
    hasSent.wait()
    expectEqual(waiting.values, [1])
  }

  @Test("a value sent from inside another, beyond the demand, is owed when both have gone round")
  func sentFromInside() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let recorder = Recorder<Int, Never>(
      requesting: .max(2),
      answering: { value, _ in
        if value == 1 { subject.send(2) }
        return .none
      }
    )
    subject.subscribe(recorder)
    subject.send(1)
    expectEqual(recorder.values, [0, 1])
    recorder.request(.max(1))
    expectEqual(recorder.values, [0, 1, 2])
  }

  @Test("who is asked for from inside another's value gets that value once, and the next by the demand that is left")
  func askedForInside() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let waiting = Recorder<Int, Never>(requesting: .none)
    let asking = Recorder<Int, Never>(answering: { value, _ in
      if value == 1 { waiting.request(.max(2)) }
      return .none
    })
    subject.subscribe(asking)
    subject.subscribe(waiting)
    subject.send(1)
    expectEqual(waiting.values, [1])
    subject.send(2)
    subject.send(3)
    expectEqual(waiting.values, [1, 2])
  }

  @Test("who was passed by the round already misses nothing by it")
  func askedForBehind() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let waiting = Recorder<Int, Never>(requesting: .none)
    let asking = Recorder<Int, Never>(answering: { value, _ in
      if value == 1 { waiting.request(.max(2)) }
      return .none
    })
    subject.subscribe(waiting)
    subject.subscribe(asking)
    subject.send(1)
    expectEqual(waiting.values, [1])
    subject.send(2)
    subject.send(3)
    expectEqual(waiting.values, [1, 2])
  }

  @Test("two subjects combined, with a request for each value, don't wait for each other")
  func combined() {
    for seed in 0..<20 {
      let first = CurrentValueSubject<Int, Never>(0)
      let second = CurrentValueSubject<Int, Never>(0)
      let recorder = Recorder<Int, Never>(
        requesting: .max(1),
        answering: { _, recorder in
          recorder.request(.max(1))
          return .none
        }
      )
      first.combineLatest(second) { $0 + $1 }.subscribe(recorder)
      race(
        seed: UInt64(seed),
        [first, second].map { subject in
          { numbers in
            for value in 1...Int.random(in: 100..<300, using: &numbers) { subject.send(value) }
            subject.send(completion: .finished)
          }
        }
      )
      #expect(recorder.isFinished)
    }
  }
}
