import Combine
import Dispatch
import ReboundTesting
import Testing

@Suite("Latest")
struct LatestTests {
  @Test("a request while another thread is inside does not wait, and is served by that thread", .timeLimit(.minutes(1)))
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
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      if index == 0 {
        shared.value.send(1)
      } else {
        isInside.wait()
        waiting.request(.max(1))
        mayLeave.signal()
      }
    }
    #expect(waiting.values == [1])
  }

  @Test("two subjects combined, with a request for each value, don't wait for each other", .timeLimit(.minutes(1)))
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
