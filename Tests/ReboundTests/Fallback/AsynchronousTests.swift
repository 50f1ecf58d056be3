import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Publishers.Asynchronous")
struct AsynchronousTests {
  @Test("calls nothing that nobody has asked for, and calls once for each subscriber")
  func demand() async {
    let calls = Log<Void>()
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let publisher = Publishers.Asynchronous { calls.number(()) }
    let idle = Recorder<Int, any Error>(requesting: .none)
    publisher.subscribe(idle)
    let recorder = Recorder<Int, any Error>(requesting: .max(1), whenCompleted: { continuation.yield() })
    publisher.subscribe(recorder)
    recorder.request(.max(1))
    for await _ in stream { break }
    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
    expectEqual(calls.count, 1)
    expectEqual(idle.values, [])
    idle.cancel()
    idle.request(.max(1))
    expectEqual(calls.count, 1)
  }

  @Test("cancels the task with the subscription, and delivers nothing after")
  func cancel() async {
    let begun = AsyncStream<Void>.makeStream()
    let ended = AsyncStream<Bool>.makeStream()
    let recorder = Recorder<Int, any Error>()
    Publishers.Asynchronous {
      begun.continuation.yield()
      await untilCancelled()
      ended.continuation.yield(Task.isCancelled)
      return 1
    }
    .subscribe(recorder)
    for await _ in begun.stream { break }
    recorder.cancel()
    for await isCancelled in ended.stream {
      #expect(isCancelled)
      break
    }
    expectEqual(recorder.events.count, 1)
  }

  @Test("delivers no completion when the value is answered with a cancel")
  func cancelFromValue() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, any Error>(answering: { _, recorder in
      recorder.cancel()
      continuation.yield()
      return .max(1)
    })
    Publishers.Asynchronous { 1 }.subscribe(recorder)
    for await _ in stream { break }
    expectEqual(recorder.values, [1])
    #expect(recorder.completion == nil)
  }

  @Test("fails with what its function throws")
  func throwing() async {
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, any Error>(whenCompleted: { ended.continuation.yield() })
    Publishers.Asynchronous<Int> { throw TestFailure.transient }.subscribe(recorder)
    for await _ in ended.stream { break }
    expectEqual(recorder.failure as? TestFailure, .transient)
  }

  @Test("runs under the deadline of its subscription, whoever asks for the value, and from where")
  func deadline() async throws {
    let time = TestScheduler().time
    let remaining = Publishers.Asynchronous { Deadline.current?.remaining }
    let limited = remaining.timeout(.total(.seconds(30)), time: time)
    // A loop asks when it awaits, and not while it subscribes.
    for try await left in limited.values { expectEqual(left, .seconds(30)) }
    for try await left in remaining.values { #expect(left == nil) }
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Duration?, any Error>(requesting: .none, whenCompleted: { ended.continuation.yield() })
    limited.subscribe(recorder)
    Deadline.$current.withValue(Deadline(in: .seconds(1), on: time)) { recorder.request(.max(1)) }
    for await _ in ended.stream { break }
    expectEqual(recorder.values, [.seconds(30)])
  }

  @Test("runs nothing when it is cancelled before a request")
  func cancelledBefore() {
    let recorder = Recorder<Int, any Error>(requesting: .none)
    Publishers.Asynchronous<Int> {
      Issue.record("ran")
      return 1
    }
    .subscribe(recorder)
    recorder.cancel()
    recorder.request(.max(1))
    #expect(recorder.values.isEmpty)
  }
}
