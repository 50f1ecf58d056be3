import Combine
import Rebound
import ReboundTesting
import Testing

@Suite("Scheduler.timer")
struct SchedulerTimerTests {
  @Test("fires after the pause, not before, and not once it is cancelled", arguments: [true, false])
  func fires(cancels: Bool) {
    let scheduler = TestScheduler()
    let log = Log<VirtualTime>()
    let timer = scheduler.timer(after: .seconds(2), options: nil) { log.write(scheduler.now) }
    scheduler.advance(by: 1.9)
    #expect(log.count == 0)
    if cancels { timer.cancel() }
    scheduler.advance(by: 0.1)
    #expect(log.entries == (cancels ? [] : [VirtualTime(nanoseconds: 2_000_000_000)]))
    timer.cancel()
    #expect(scheduler.pendingCount == 0)
  }

  @Test(
    "takes a pause of no time, and one longer than there is time",
    arguments: [Duration.seconds(-1), .seconds(Int64.max)]
  )
  func extremes(pause: Duration) {
    let scheduler = TestScheduler()
    let timer = scheduler.timer(after: pause, options: nil) {}
    #expect(scheduler.nextDue == VirtualTime(nanoseconds: pause < .zero ? 0 : 1_000_000_000_000_000_000))
    timer.cancel()
  }
}
