import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("A timer that is re-armed")
struct RearmingTimerTests {
  /// A timer, and what fired when.
  final class Rig {
    let scheduler = TestScheduler()
    let timer: RearmingTimer<TestScheduler, Int>
    var log: [String] = []

    init() {
      timer = RearmingTimer(on: scheduler, nil, after: 1)
    }

    func postpone(_ payload: Int) {
      timer.postpone(payload) { { self.fire($0) } }
    }

    func fire(_ number: Int) {
      if let payload = timer.fire(number, { self.fire($0) }) { log.append("\(payload) at \(scheduler.now)") }
    }
  }

  @Test("it fires once, with the payload of the last time, an interval after that")
  func fires() {
    let rig = Rig()
    rig.postpone(1)
    rig.scheduler.advance(by: 0.5)
    rig.postpone(2)
    expectEqual(rig.timer.current, 2)
    rig.scheduler.advance(by: 10)
    rig.postpone(3)
    rig.scheduler.advance(by: 10)
    expectEqual(rig.log, ["2 at 1.5 s", "3 at 11.5 s"])
    expectEqual(rig.scheduler.pendingCount, 0)
  }

  @Test("one timer is under way, however often it is put off")
  func timers() {
    let rig = Rig()
    for payload in 0..<100 {
      rig.postpone(payload)
      expectEqual(rig.scheduler.pendingCount, 1)
      rig.scheduler.advance(by: 0.03)
    }
    rig.scheduler.advance(by: 1)
    expectEqual(rig.log, ["99 at 3.97 s"])
  }

  @Test("once stopped it never fires, lets go of the payload and cancels the timer")
  func stops() {
    let rig = Rig()
    rig.postpone(1)
    rig.timer.stop()
    rig.postpone(2)
    expectEqual(rig.scheduler.pendingCount, 0)
    #expect(rig.timer.current == nil)
    rig.fire(1)
    #expect(rig.log.isEmpty)
  }

  @Test("a timer that fires once more does not ring again")
  func stale() {
    let rig = Rig()
    rig.postpone(1)
    rig.scheduler.advance(by: 1)
    rig.fire(1)
    expectEqual(rig.log, ["1 at 1.0 s"])
  }

  @Test("a timer that fires once more does not ring for the one that is set now")
  func staleWhileArmed() {
    let rig = Rig()
    rig.postpone(1)
    rig.scheduler.advance(by: 1)
    rig.postpone(2)
    rig.fire(1)
    rig.scheduler.advance(by: 1)
    expectEqual(rig.log, ["1 at 1.0 s", "2 at 2.0 s"])
  }

  @Test("when the clock is set back, it waits for an interval of the new time at most")
  func clockSetBack() {
    let scheduler = NotingScheduler()
    let timer = RearmingTimer<NotingScheduler, Int>(on: scheduler, nil, after: 1)
    func setClock(_ milliseconds: Int) { scheduler.time = .start.advanced(by: .milliseconds(milliseconds)) }
    setClock(100_000)
    timer.postpone(1) { { _ in } }
    setClock(50_000)
    timer.postpone(2) { { _ in } }
    #expect(timer.fire(1, { _ in }) == nil)

    setClock(50_500)
    timer.postpone(3) { { _ in } }
    setClock(20_000)
    #expect(timer.fire(2, { _ in }) == nil)
    setClock(21_000)
    expectEqual(timer.fire(3, { _ in }), 3)
    expectEqual(
      scheduler.log,
      [101_000, 51_000, 21_000].map { "every \(VirtualTime.Stride.seconds(1)) after \($0) ms" }
    )
  }

  @Test("a job that is replaced, since the clock was set back, is cancelled")
  func cancelsReplacedJob() {
    let scheduler = NotingScheduler()
    let timer = RearmingTimer<NotingScheduler, Int>(on: scheduler, nil, after: 1)
    scheduler.time = .start.advanced(by: .seconds(100))
    timer.postpone(1) { { _ in } }
    scheduler.time = .start
    timer.postpone(2) { { _ in } }
    expectEqual(scheduler.jobs.map(\.cancelCount), [1, 0])
  }

  @Test("a scheduler that does everything at once lets it fire at once, though its clock stands still")
  func immediate() {
    let timer = RearmingTimer<ImmediateScheduler, Int>(on: .shared, nil, after: 5)
    var log: [Int] = []
    func fire(_ number: Int) {
      if let payload = timer.fire(number, fire) { log.append(payload) }
    }
    timer.postpone(1) { fire }
    timer.postpone(2) { fire }
    expectEqual(log, [1, 2])
  }
}
