import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("TimeSource")
struct TimeSourceTests {
  private let scheduler = TestScheduler()
  private let log = EventLog<String>()

  /// The same scheduler, which does not say itself what its time is.
  private var plain: LastingScheduler { LastingScheduler(base: scheduler) }

  // MARK: Timers

  @Test("a timer comes once, when it is time and not before", arguments: [true, false])
  func once(isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    let timer = time.after(.seconds(2)) { log.write("came") }
    scheduler.advance(by: .nanoseconds(1_999_999_999))
    #expect(log.events.isEmpty)
    scheduler.advance(by: .nanoseconds(1))
    expectEqual(log.events, ["came"])
    scheduler.advance(by: .seconds(10))
    expectEqual(log.events, ["came"])
    expectEqual(scheduler.pendingCount, 0)
    withExtendedLifetime(timer) {}
  }

  @Test("timers come in the order of their moments", arguments: [true, false])
  func order(isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    let timers = [3, 1, 2].map { second in time.after(.seconds(second)) { log.write("\(second)") } }
    scheduler.advance(by: .seconds(3))
    expectEqual(log.events, ["1", "2", "3"])
    withExtendedLifetime(timers) {}
  }

  @Test("one that nobody holds comes all the same", arguments: [true, false])
  func letGo(isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    _ = time.after(.seconds(1)) { log.write("came") }
    scheduler.advance(by: .seconds(1))
    expectEqual(log.events, ["came"])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("one that is cancelled does not come, and leaves nothing behind", arguments: [true, false])
  func cancelBefore(isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    time.after(.seconds(1)) { log.write("came") }.cancel()
    expectEqual(scheduler.pendingCount, 0)
    scheduler.advance(by: .seconds(2))
    #expect(log.events.isEmpty)
  }

  @Test("to cancel it afterwards, or from inside, does nothing", arguments: [true, false])
  func cancelLate(isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    let own = Locked<(any Cancellable)?>(nil)
    let timer = time.after(.seconds(1)) {
      own.withLock { $0 }?.cancel()
      log.write("came")
    }
    own.withLock { $0 = timer }
    scheduler.advance(by: .seconds(1))
    timer.cancel()
    scheduler.advance(by: .seconds(5))
    expectEqual(log.events, ["came"])
    expectEqual(scheduler.pendingCount, 0)
    own.withLock { $0 = nil }
  }

  @Test("one cancels the other that is due at the same moment", arguments: [true, false])
  func cancelOfTheNext(isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    let next = Locked<(any Cancellable)?>(nil)
    let first = time.after(.seconds(1)) { next.withLock { $0 }?.cancel() }
    next.withLock { $0 = time.after(.seconds(1)) { log.write("came") } }
    scheduler.advance(by: .seconds(1))
    #expect(log.events.isEmpty)
    expectEqual(scheduler.pendingCount, 0)
    withExtendedLifetime(first) {}
  }

  @Test("a delay of zero or less is as soon as possible", arguments: [Duration.zero, .seconds(-5)], [true, false])
  func noDelay(delay: Duration, isPlain: Bool) {
    let time = isPlain ? TimeSource(plain) : TimeSource(scheduler)
    let timer = time.after(delay) { log.write("came") }
    scheduler.advance()
    expectEqual(log.events, ["came"])
    expectEqual(scheduler.elapsed, .zero)
    withExtendedLifetime(timer) {}
  }

  @Test("a scheduler that does all at once lets a timer come once, before it is there to be cancelled")
  func immediately() {
    let timer = TimeSource(ImmediateScheduler.shared).after(.seconds(9)) { log.write("came") }
    expectEqual(log.events, ["came"])
    timer.cancel()
    expectEqual(log.events, ["came"])
  }

  @Test("a timer of the system's time that is cancelled lets go of what it would have done")
  func systemCancel() {
    final class Witness: Sendable {}
    weak var weakly: Witness?
    let timer: any Cancellable
    do {
      let witness = Witness()
      weakly = witness
      timer = TimeSource.system.after(.seconds(1_000_000_000)) { withExtendedLifetime(witness) {} }
    }
    #expect(weakly != nil)
    timer.cancel()
    #expect(weakly == nil)
    timer.cancel()
  }

  @Test("a timer of the system's time is never early, and without a delay it comes")
  func systemNever() async {
    // The system's own timer, for which no virtual time stands in: the test waits for the event, however late it comes.
    let begin = TimeSource.system.now
    let moment = await withCheckedContinuation { continuation in
      _ = TimeSource.system.after(.zero) { continuation.resume(returning: TimeSource.system.now) }
    }
    #expect(moment >= begin)
  }

  // MARK: Time

  @Test("the time of a scheduler begins when the source is made, unless it says itself what its time is")
  func schedulerTime() {
    scheduler.advance(by: .seconds(5))
    let (own, plain) = (TimeSource(scheduler), TimeSource(plain))
    expectEqual(own.now, .seconds(5))
    expectEqual(plain.now, .zero)
    scheduler.advance(by: .seconds(2))
    expectEqual(own.now, .seconds(7))
    expectEqual(plain.now, .seconds(2))
  }

  @Test("the time of a clock begins when the source is made; its timers wait on it")
  func clockTime() async throws {
    let clock = SteppedClock()
    clock.advance(by: .seconds(5))
    let time = TimeSource(clock)
    expectEqual(time.now, .zero)
    let (rings, continuation) = AsyncStream<Void>.makeStream()
    let timer = time.after(.seconds(2)) {
      log.write("\(time.now)")
      continuation.finish()
    }
    try await clock.untilAsleep(1)
    clock.advance(by: .seconds(2))
    for await _ in rings {}
    withExtendedLifetime(timer) {}
    expectEqual(log.events, ["\(Duration.seconds(2))"])
  }

  @Test("a timer of a clock that nobody holds comes all the same")
  func clockLetGo() async throws {
    let clock = SteppedClock()
    let came = AsyncStream<Void>.makeStream()
    _ = TimeSource(clock).after(.seconds(2)) {
      log.write("came")
      came.continuation.finish()
    }
    try await clock.untilAsleep(1)
    clock.advance(by: .seconds(2))
    for await _ in came.stream {}
    expectEqual(log.events, ["came"])
  }

  @Test("a timer of a clock that is cancelled wakes its sleeper")
  func clockCancel() async {
    let ended = AsyncStream<Void>.makeStream()
    let clock = JumpingClock { ended.continuation.yield() }
    let timer = TimeSource(clock).after(.seconds(2)) { log.write("came") }
    for await _ in ended.stream { break }
    timer.cancel()
    #expect(log.events.isEmpty)
  }

  @Test("has the device's clock, which is past the longest delay")
  func deviceClock() {
    let before = Date().timeIntervalSince1970
    let now = TimeSource.deviceClock().inSeconds
    #expect(now >= before - 1e-3 && now <= Date().timeIntervalSince1970 + 1e-3)
  }

  @Test("another wall clock leaves the time and its timers as they are")
  func wallClock() {
    let time = scheduler.time.withWallClock { .seconds(1_000) }
    expectEqual(time.wallClock, .seconds(1_000))
    expectEqual(scheduler.time.wallClock, .zero)
    let timer = time.after(.seconds(3)) { log.write("\(time.now)") }
    scheduler.advance(by: .seconds(3))
    expectEqual(time.now, .seconds(3))
    expectEqual(time.wallClock, .seconds(1_000))
    expectEqual(log.events, ["\(Duration.seconds(3))"])
    withExtendedLifetime(timer) {}
  }

  @Test("the current one is that of the task, and of its children")
  func current() async {
    scheduler.advance(by: .seconds(4))
    await TimeSource.$current.withValue(scheduler.time) {
      expectEqual(TimeSource.current.now, .seconds(4))
      async let child = TimeSource.current.now
      await expectEqual(child, .seconds(4))
      expectEqual(Deadline(in: .seconds(1)).moment, .seconds(5))
      TimeSource.$current.withValue(TimeSource(plain)) { expectEqual(TimeSource.current.now, .zero) }
      expectEqual(TimeSource.current.now, .seconds(4))
    }
  }

  // MARK: Sleep

  @Test("a sleep wakes when it is time, and leaves no timer")
  func sleep() async throws {
    let (time, set) = announcing()
    let sleeper = Task {
      try await time.sleep(for: .seconds(2))
      return time.now
    }
    for await _ in set { break }
    scheduler.advance(by: .seconds(2))
    try await expectEqual(sleeper.value, .seconds(2))
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a sleep of no length returns at once, without a timer", arguments: [Duration.zero, .seconds(-1)])
  func noSleep(length: Duration) async throws {
    try await scheduler.time.sleep(for: length)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a sleep may be over before its timer is there")
  func immediateSleep() async throws {
    try await TimeSource(ImmediateScheduler.shared).sleep(for: .seconds(9))
  }

  @Test("a cancel before a sleep lets it not begin", arguments: [Duration.zero, .seconds(2)])
  func cancelBeforeSleep(length: Duration) async {
    let time = scheduler.time
    let sleeper = Task {
      await untilCancelled()
      try await time.sleep(for: length)
    }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a cancel ends a sleep at once, and its timer goes")
  func cancelInSleep() async {
    let (time, set) = announcing()
    let sleeper = Task { try await time.sleep(for: .seconds(2)) }
    for await _ in set { break }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a cancel in a sleep cancels its timer, which nobody else can")
  func cancelsTimer() async {
    let time = StillTime()
    let sleeper = Task { @MainActor in try await time.source.sleep(for: .seconds(2)) }
    await time.timers.until(1)
    // What runs on the same actor begins when it has gone to sleep.
    await MainActor.run {}
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    expectEqual(time.cancels.count, 1)
  }

  @Test("a cancel ends a sleep of the system's time")
  func cancelInSystemSleep() async {
    let sleeper = Task { try await TimeSource.system.sleep(for: .seconds(1_000_000)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  /// The time of the scheduler, and when a timer was set.
  private func announcing() -> (TimeSource, AsyncStream<Void>) {
    let (time, (stream, continuation)) = (scheduler.time, AsyncStream<Void>.makeStream())
    let announcing = TimeSource(
      now: { time.now },
      after: { delay, action in
        let timer = time.after(delay, action)
        continuation.yield()
        return timer
      }
    )
    return (announcing, stream)
  }

  // MARK: Deadlines

  @Test("which of two deadlines of one time is nearer is known without a look at a clock")
  func nearer() {
    let reads = Locked(0)
    let time = TimeSource(
      now: {
        reads.withLock { $0 += 1 }
        return .zero
      },
      after: { _, _ in AnyCancellable {} }
    )
    let (near, far) = (Deadline(at: .seconds(1), on: time), Deadline(at: .seconds(2), on: time))
    expectEqual(near.nearer(far).moment, .seconds(1))
    expectEqual(far.nearer(near).moment, .seconds(1))
    expectEqual(far.nearer(nil).moment, .seconds(2))
    expectEqual(reads.withLock { $0 }, 0)
    // Of two times, each is asked how much is left.
    expectEqual(near.nearer(Deadline(at: .zero, on: scheduler.time)).moment, .zero)
    expectEqual(reads.withLock { $0 }, 1)
  }
}
