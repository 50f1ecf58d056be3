import Combine
import Dispatch
import Foundation
import Rebound
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("AnyTimeScheduler")
struct AnyTimeSchedulerTests {
  @Test("does work when the scheduler below says that it is time, to the nanosecond")
  func passesOn() {
    let scheduler = TestScheduler()
    scheduler.advance(by: 5)
    let any = AnyTimeScheduler(scheduler)
    var log: [String] = []
    any.schedule { log.append("now") }
    any.schedule(after: any.now.advanced(by: .nanoseconds(1_500_000_001))) { log.append("later") }
    let repeating = any.schedule(after: any.now.advanced(by: .seconds(1)), interval: .seconds(1)) { log.append("tick") }
    scheduler.advance()
    #expect(log == ["now"])
    scheduler.advance(by: .nanoseconds(1_500_000_000))
    #expect(log == ["now", "tick"])
    scheduler.advance(by: .nanoseconds(1))
    #expect(log == ["now", "tick", "later"])
    repeating.cancel()
    scheduler.advance(by: 9)
    #expect(log.count == 3)
    #expect(scheduler.pendingCount == 0)
  }

  @Test(
    "lengths of a dispatch queue's time and of others are the same to the nanosecond, and never negative",
    arguments: [(-1, 0), (0, 0), (1, 1), (1_500_000_001, 1_500_000_001)]
  )
  func lengths(nanoseconds: Int, length: Int) {
    #expect(Duration(measured: DispatchQueue.SchedulerTimeType.Stride.nanoseconds(nanoseconds)) == .nanoseconds(length))
    #expect(Duration(measured: VirtualTime.Stride.nanoseconds(nanoseconds)) == .nanoseconds(length))
  }

  @Test("its time passes as that of the scheduler below")
  func time() {
    let scheduler = TestScheduler()
    let any = AnyTimeScheduler(scheduler)
    let start = any.now
    scheduler.advance(by: .milliseconds(1_250))
    #expect(start.distance(to: any.now) == .milliseconds(1_250))
    #expect(ClientTime(scheduler: scheduler).monotonic.now == .zero)
  }
}
