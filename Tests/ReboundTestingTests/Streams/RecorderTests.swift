import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Recorder")
struct RecorderTests {
  private struct Failed: Error, Equatable {}

  private let scheduler = TestScheduler()
  private let publisher = TestPublisher<Int, Failed>()

  @Test("writes down all that comes, with the times")
  func records() {
    let recorder = Recorder<Int, Failed>(on: scheduler)
    publisher.subscribe(recorder)
    scheduler.advance(by: 1)
    publisher.send(5)
    scheduler.advance(by: 1)
    publisher.send(completion: .failure(Failed()))
    expectEqual(recorder.events, [.subscription, .value(5), .completion(.failure(Failed()))])
    expectEqual(recorder.entries.map(\.time.nanoseconds), [0, 1_000_000_000, 2_000_000_000])
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [1_000_000_000])
    expectEqual(recorder.completionTime?.nanoseconds, 2_000_000_000)
    expectEqual(recorder.failure, Failed())
    #expect(!recorder.isFinished)
  }

  @Test("writes down what should not come, too")
  func recordsViolations() {
    let recorder = Recorder<Int, Failed>(requesting: .none)
    publisher.subscribe(recorder)
    publisher.send(1)
    publisher.send(completion: .finished)
    publisher.send(2)
    publisher.send(completion: .failure(Failed()))
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completions, [.finished, .failure(Failed())])
    #expect(recorder.isFinished)
    #expect(recorder.failure == nil)
  }

  @Test("requests what it is told to, when it is told to")
  func requests() {
    let recorder = Recorder<Int, Failed>(requesting: .max(2), answering: { value, _ in .max(value) })
    publisher.subscribe(recorder)
    recorder.request(.unlimited)
    expectEqual(publisher.requests, [.max(2), .unlimited])
    expectEqual(publisher.send(7), .max(7))

    let silent = Recorder<Int, Failed>(requesting: .none)
    publisher.subscribe(silent)
    expectEqual(publisher.connections[1].requests, [])
  }

  @Test("cancels, and requests nothing after")
  func cancels() {
    let recorder = Recorder<Int, Failed>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    publisher.subscribe(recorder)
    publisher.send(1)
    recorder.request(.max(1))
    recorder.cancel()
    expectEqual(publisher.cancelCount, 1)
    expectEqual(publisher.requests, [.unlimited])
    #expect(recorder.completion == nil)
  }

  @Test("cancels a subscription that comes after the cancel, once")
  func cancelsEarly() {
    let recorder = Recorder<Int, Failed>()
    recorder.cancel()
    publisher.subscribe(recorder)
    publisher.send(1)
    expectEqual(publisher.cancelCount, 1)
    expectEqual(publisher.requests, [])
    expectEqual(recorder.values, [])
    publisher.subscribe(recorder)
    publisher.send(2)
    expectEqual(recorder.values, [2])
  }

  @Test("calls who waits for the completion")
  func wakesUp() {
    var calls = 0
    let recorder = Recorder<Int, Failed>(whenCompleted: { calls += 1 })
    publisher.subscribe(recorder)
    publisher.send(1)
    expectEqual(calls, 0)
    publisher.send(completion: .finished)
    expectEqual(calls, 1)
  }
}
