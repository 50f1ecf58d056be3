import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("ImmediateTestScheduler")
struct ImmediateTestSchedulerTests {
  private let scheduler = ImmediateTestScheduler()

  @Test("does work before schedule returns, and lets time jump to it")
  func jumps() {
    var times: [VirtualTime] = []
    scheduler.schedule { times.append(scheduler.now) }
    scheduler.schedule(after: scheduler.now.advanced(by: 5)) { times.append(scheduler.now) }
    expectEqual(times, [.start, .start.advanced(by: 5)])
    expectEqual(scheduler.now, .start.advanced(by: 5))
  }

  @Test("does work that work schedules after it, in the order of the moments, with a flat stack")
  func trampoline() {
    var order: [Int] = []
    scheduler.schedule {
      scheduler.schedule(after: .start.advanced(by: 2)) { order.append(3) }
      scheduler.schedule { order.append(2) }
      order.append(1)
    }
    expectEqual(order, [1, 2, 3])

    var left = 100_000
    func again() {
      left -= 1
      if left > 0 { scheduler.schedule(again) }
    }
    scheduler.schedule(again)
    expectEqual(left, 0)
  }

  @Test("does repeating work once, and not at all if it is cancelled first")
  func repeating() {
    var count = 0
    let repetition = scheduler.schedule(after: scheduler.now.advanced(by: 1), interval: 1) { count += 1 }
    expectEqual(count, 1)
    repetition.cancel()
    scheduler.schedule {
      scheduler.schedule(after: scheduler.now.advanced(by: 1), interval: 1) { count += 1 }.cancel()
    }
    expectEqual(count, 1)
  }

  @Test("lets a retry with pauses run through in one go")
  func retry() {
    let upstream = TestPublisher<Int, RunFailure>(whenSubscribed: { $0.send(completion: .failure(.broken)) })
    let recorder = Recorder<Int, RunFailure>()
    upstream.retry(.constant(.seconds(3)), times: 4, time: scheduler.time).subscribe(recorder)
    expectEqual(upstream.subscriptionCount, 5)
    expectEqual(recorder.failure, .broken)
    expectEqual(scheduler.now, .start.advanced(by: 12))
  }

  @Test("its time jumps, for work and for who sleeps")
  func time() async throws {
    let time = scheduler.time
    var isDone = false
    // It is called on this thread, before `after` returns.
    nonisolated(unsafe) let done = { isDone = true }
    withExtendedLifetime(time.after(.seconds(5)) { done() }) {}
    #expect(isDone)
    expectEqual(time.now, .seconds(5))
    try await time.sleep(for: .seconds(3_600))
    expectEqual(scheduler.now, .start.advanced(by: 3_605))
    expectEqual(time.wallClock, .seconds(3_605))
  }

  @Test("lets every value through debounce, since its pause is over at once")
  func debounce() {
    let typed = PassthroughSubject<Int, Never>()
    let recorder = Recorder<Int, Never>()
    typed.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    for value in 1...3 { typed.send(value) }
    expectEqual(recorder.values, [1, 2, 3])
  }

  private enum RunFailure: Error {
    case broken
  }
}
