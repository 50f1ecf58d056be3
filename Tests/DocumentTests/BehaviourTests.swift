import Combine
import Foundation
import ReboundTesting
import Testing

/// The code of Documentation/Behaviour.md, as it stands there.
@Suite("The code of the page on behaviour")
struct BehaviourTests {
  @Test("debounce loses the value that waits when the upstream ends")
  func debounceAtTheEnd() {
    let scheduler = TestScheduler()

    let typed = PassthroughSubject<String, Never>()
    let searches = Recorder<String, Never>()
    typed
      .debounce(for: .seconds(1), scheduler: scheduler)
      .subscribe(searches)

    typed.send("last")
    typed.send(completion: .finished)
    scheduler.advance(by: .seconds(1))
    #expect(searches.values.isEmpty)
    #expect(searches.isFinished)
  }

  @Test("throttle loses what a publisher sends upon the first request")
  func throttleOfJust() {
    let scheduler = TestScheduler()

    let numbers = Recorder<Int, Never>()
    Just(1)
      .throttle(for: .seconds(1), scheduler: scheduler, latest: true)
      .subscribe(numbers)

    scheduler.advance(by: .seconds(1))
    #expect(numbers.values.isEmpty)
    #expect(numbers.isFinished)
  }

  @Test("a timer's tolerance is kept by the initializer only")
  func timerTolerance() {
    #expect(Timer.publish(every: 1, tolerance: 0.1, on: .main, in: .default).tolerance == nil)
    #expect(Timer.TimerPublisher(interval: 1, tolerance: 0.1, runLoop: .main, mode: .default).tolerance == 0.1)
  }
}
