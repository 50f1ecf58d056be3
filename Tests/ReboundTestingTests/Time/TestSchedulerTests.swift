import Combine
import Dispatch
import Expectations
import ReboundTesting
import StreamSupport
import Testing

@Suite("TestScheduler")
struct TestSchedulerTests {
  private let scheduler = TestScheduler()

  /// What was done, and when, in order.
  private final class Diary {
    var lines: [String] = []
  }

  private let diary = Diary()

  private func note(_ name: String) -> () -> Void {
    { [diary, scheduler] in diary.lines.append("\(name) \(scheduler.now)") }
  }

  @Test("does nothing before time is advanced")
  func waits() {
    scheduler.schedule(note("a"))
    scheduler.schedule(after: scheduler.now, note("b"))
    expectEqual(diary.lines, [])
    expectEqual(scheduler.pendingCount, 2)
    scheduler.advance()
    expectEqual(diary.lines, ["a 0.0 s", "b 0.0 s"])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("does work in the order of its times, and at its times")
  func ordersByTime() {
    for second in [3, 1, 2] {
      scheduler.schedule(after: scheduler.now.advanced(by: .seconds(second)), note("\(second)"))
    }
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 1_000_000_000))
    scheduler.advance(by: 2.5)
    expectEqual(diary.lines, ["1 1.0 s", "2 2.0 s"])
    expectEqual(scheduler.now, VirtualTime(nanoseconds: 2_500_000_000))
    expectEqual(scheduler.elapsed, .milliseconds(2_500))
    scheduler.advance(to: VirtualTime(nanoseconds: 3_000_000_000))
    expectEqual(diary.lines.last, "3 3.0 s")
    #expect(scheduler.nextDue == nil)
  }

  @Test("does work of the same time in the order in which it was scheduled, however much there is")
  func isStable() {
    var random = SeededRandom(seed: 9)
    var done: [(due: Int, arrival: Int)] = []
    for arrival in 0..<5_000 {
      let due = Int.random(in: 0..<20, using: &random)
      scheduler.schedule(after: VirtualTime(nanoseconds: due)) { done.append((due, arrival)) }
    }
    scheduler.advance(by: 1)
    expectEqual(done.count, 5_000)
    #expect(zip(done, done.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("does work that is scheduled meanwhile, if it is due")
  func reentrant() {
    scheduler.schedule(after: VirtualTime(nanoseconds: 1_000_000_000)) { [scheduler] in
      note("first")()
      scheduler.schedule(note("now"))
      scheduler.schedule(after: .start, note("past"))
      scheduler.schedule(after: scheduler.now.advanced(by: 1), note("later"))
      scheduler.schedule(after: scheduler.now.advanced(by: 9), note("much later"))
    }
    scheduler.advance(by: 5)
    expectEqual(diary.lines, ["first 1.0 s", "now 1.0 s", "past 1.0 s", "later 2.0 s"])
    expectEqual(scheduler.now, VirtualTime(nanoseconds: 5_000_000_000))
    expectEqual(scheduler.pendingCount, 1)
  }

  @Test("does not move back")
  func monotonic() {
    scheduler.advance(by: 5)
    scheduler.advance(by: -3)
    scheduler.advance(to: .start)
    expectEqual(scheduler.now, VirtualTime(nanoseconds: 5_000_000_000))
  }

  @Test("does what is due now when it is told to move back")
  func dueNow() {
    scheduler.advance(by: 5)
    scheduler.schedule(note("first"))
    scheduler.schedule(after: scheduler.now.advanced(by: 1), note("later"))
    scheduler.advance(by: -3)
    expectEqual(diary.lines, ["first 5.0 s"])
    scheduler.schedule(note("second"))
    scheduler.advance(to: .start)
    expectEqual(diary.lines, ["first 5.0 s", "second 5.0 s"])
    expectEqual(scheduler.pendingCount, 1)
  }

  @Test("repeats until it is cancelled, also from inside")
  func repeats() {
    var ticks = 0
    var timer: (any Cancellable)?
    timer = scheduler.schedule(after: VirtualTime(nanoseconds: 1_000_000_000), interval: 2) {
      ticks += 1
      if ticks == 3 { timer?.cancel() }
    }
    scheduler.advance(by: 4)
    expectEqual(ticks, 2)
    expectEqual(scheduler.pendingCount, 1)
    scheduler.advance(by: 100)
    expectEqual(ticks, 3)
    expectEqual(scheduler.pendingCount, 0)
    timer?.cancel()
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("stops a repeating piece of work that nobody holds")
  func stopsWhenReleased() {
    var timer: (any Cancellable)? = scheduler.schedule(after: .start, interval: 1, note("tick"))
    scheduler.advance()
    withExtendedLifetime(timer) {}
    timer = nil
    scheduler.advance(by: 10)
    expectEqual(diary.lines, ["tick 0.0 s"])
  }

  @Test("repeats from the present moment if the first one has passed")
  func repeatsFromNow() {
    scheduler.advance(by: 5)
    let timer = scheduler.schedule(after: .start, interval: 2, note("tick"))
    scheduler.advance(by: 4)
    expectEqual(diary.lines, ["tick 5.0 s", "tick 7.0 s", "tick 9.0 s"])
    timer.cancel()
  }

  @Test("gets past an interval of nothing")
  func zeroInterval() {
    var ticks = 0
    let timer = scheduler.schedule(after: .start, interval: 0) { ticks += 1 }
    scheduler.advance(by: .nanoseconds(9))
    expectEqual(ticks, 10)
    timer.cancel()
  }

  @Test("lets go of what cancelled work holds, and of what was done")
  func releases() {
    weak var cancelled: Diary?
    weak var done: Diary?
    let timer: any Cancellable
    do {
      let (first, second) = (Diary(), Diary())
      (cancelled, done) = (first, second)
      timer = scheduler.schedule(after: VirtualTime(nanoseconds: 5), interval: 1) { first.lines.append("") }
      scheduler.schedule { second.lines.append("") }
    }
    #expect(cancelled != nil)
    timer.cancel()
    scheduler.advance()
    #expect(cancelled == nil)
    #expect(done == nil)
  }

  @Test("is released together with work that holds what cancels it")
  func noCycle() {
    weak var weakScheduler: TestScheduler?
    do {
      let scheduler = TestScheduler()
      weakScheduler = scheduler
      var timer: (any Cancellable)?
      timer = scheduler.schedule(after: .start, interval: 1) { timer?.cancel() }
    }
    #expect(weakScheduler == nil)
  }

  @Test("keeps the order of the rest when most of the work is cancelled")
  func compacts() {
    var done: [Int] = []
    var timers: [any Cancellable] = []
    for number in 0..<1_000 {
      timers.append(
        scheduler.schedule(after: VirtualTime(nanoseconds: 1_000 - number % 100), interval: 1_000_000) {
          done.append(number)
        }
      )
    }
    for (number, timer) in timers.enumerated() where number % 10 != 0 { timer.cancel() }
    expectEqual(scheduler.pendingCount, 100)
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 910))
    scheduler.advance(by: .nanoseconds(1_000))
    let expected = (0..<100).map { $0 * 10 }.sorted { (1_000 - $0 % 100, $0) < (1_000 - $1 % 100, $1) }
    expectEqual(done, expected)
    timers.removeAll()
    expectEqual(scheduler.pendingCount, 0)
    #expect(scheduler.nextDue == nil)
  }

  @Test("runs all work there is, and says how much it was")
  func runs() throws {
    scheduler.schedule(after: VirtualTime(nanoseconds: 7_000_000_000)) { [scheduler] in
      scheduler.schedule(after: VirtualTime(nanoseconds: 8_000_000_000), note("second"))
    }
    try expectEqual(scheduler.run(), 2)
    expectEqual(diary.lines, ["second 8.0 s"])
    try expectEqual(scheduler.run(), 0)
  }

  @Test("gives up on work that never ends, and says what to do")
  func stillBusy() {
    let timer = scheduler.schedule(after: .start, interval: 1) {}
    let error = #expect(throws: TestScheduler.StillBusy.self) { try scheduler.run(limit: 10) }
    expectEqual(
      error?.description,
      """
      TestScheduler: 1 pieces of work still wait at 9.0 s, after 10 were done. Cancel what repeats, \
      advance by a fixed time instead, or raise the limit.
      """
    )
    timer.cancel()
  }

  @Test("rings no timer of its time too early, between two nanoseconds either")
  func roundsUp() {
    let moments = Locked<[Duration]>([])
    let scheduler = scheduler
    let timer = scheduler.time.after(.seconds(1) / 3) { moments.withLock { $0.append(scheduler.elapsed) } }
    scheduler.advance(by: 1)
    expectEqual(moments.withLock { $0 }, [.nanoseconds(333_333_334)])
    timer.cancel()
  }

  @Test("takes work from many threads")
  func concurrentScheduling() throws {
    nonisolated(unsafe) var done = 0  // Written by `run` only, after all threads are through.
    let scheduler = scheduler
    DispatchQueue.concurrentPerform(iterations: 1_000) { number in
      if number % 2 == 0 {
        scheduler.schedule(after: VirtualTime(nanoseconds: number)) { done += 1 }
      } else {
        scheduler.schedule(after: VirtualTime(nanoseconds: number), interval: 1) { done += 1_000 }.cancel()
      }
    }
    try scheduler.run()
    expectEqual(done, 500)
  }
}
