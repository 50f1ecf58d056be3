import Combine
import Rebound
import ReboundTesting
import Testing

@Suite("AsyncCall")
struct AsyncCallTests {
  @Test("runs its function once, from the first request on")
  func once() async {
    let calls = EventLog<Int>()
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, any Error>(requesting: .none, whenCompleted: { ended.continuation.yield() })
    AsyncCall<Int> {
      calls.write(0)
      return 7
    }
    .subscribe(recorder)
    #expect(calls.events.isEmpty)
    recorder.request(.max(1))
    recorder.request(.max(1))
    for await _ in ended.stream { break }
    #expect(recorder.values == [7])
    #expect(recorder.isFinished)
    #expect(calls.count == 1)
  }

  @Test("fails with what its function throws")
  func throwing() async {
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, any Error>(whenCompleted: { ended.continuation.yield() })
    AsyncCall<Int> { throw TestFailure.transient }.subscribe(recorder)
    for await _ in ended.stream { break }
    #expect(recorder.failure as? TestFailure == .transient)
  }

  @Test("cancels its task with the subscription, and delivers nothing after")
  func cancel() async {
    let (begun, ended) = (AsyncStream<Void>.makeStream(), AsyncStream<Bool>.makeStream())
    let recorder = Recorder<Int, any Error>()
    AsyncCall<Int> {
      let (never, continuation) = AsyncStream<Void>.makeStream()
      begun.continuation.yield()
      await withTaskCancellationHandler {
        for await _ in never {}
      } onCancel: {
        continuation.finish()
      }
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
    #expect(recorder.values.isEmpty)
  }

  @Test("runs nothing when it is cancelled before a request")
  func cancelledBefore() {
    let recorder = Recorder<Int, any Error>(requesting: .none)
    AsyncCall<Int> {
      Issue.record("ran")
      return 1
    }
    .subscribe(recorder)
    recorder.cancel()
    recorder.request(.max(1))
    #expect(recorder.values.isEmpty)
  }
}
