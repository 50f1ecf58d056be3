import Combine
import Rebound
import ReboundTesting
import Testing

// The code of Documentation/AddingAnOperator.md, as it stands there.

extension Publisher {
  /// Publishes each value together with the one before.
  ///
  /// - Demand: Passes up; the first value is made good.
  /// - Failure: The upstream's.
  /// - Threads: Where the upstream sends.
  func pairs() -> some Publisher<(Output, Output), Failure> {
    handle("Pairs", remembering: Output?.none) { last, value, emitter in
      if let last { emitter.send((last, value)) }
      last = value
    } completion: { _, end, emitter in
      emitter.send(completion: end)
    }
  }
}

/// Counts the seconds for whoever listens; a second that nobody asks for is dropped.
func seconds<Context: Scheduler>(on scheduler: Context) -> Publishers.Create<Int, Never> {
  Publishers.Create("Seconds") { emitter in
    var count = 0
    return scheduler.schedule(after: scheduler.now.advanced(by: .seconds(1)), interval: .seconds(1)) {
      count += 1
      emitter.sendIfRequested(count)
    }
  }
}

@Suite("The emitters of the page on adding an operator")
struct OperatorsOfEmittersTests {
  @Test("the operator pairs each value with the one before, and makes the first good")
  func pairs() {
    let upstream = TestPublisher<Int, Never>()
    let recorder = Recorder<String, Never>(requesting: .max(1))
    upstream.pairs().map { "\($0)-\($1)" }.subscribe(recorder)
    #expect(upstream.send(1) == .max(1))
    upstream.send(2)
    upstream.send(completion: .finished)
    #expect(recorder.values == ["1-2"])
    #expect(recorder.isFinished)
  }

  @Test("the source counts for as long as somebody listens")
  func source() {
    let scheduler = TestScheduler()
    let recorder = Recorder<Int, Never>(requesting: .max(2), on: scheduler)
    seconds(on: scheduler).subscribe(recorder)
    scheduler.advance(by: .seconds(5))
    #expect(recorder.values == [1, 2])
    recorder.cancel()
    #expect(scheduler.pendingCount == 0)
  }
}
