import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("PolicyEventLog")
struct PolicyEventLogTests {
  @Test("writes down what is told while it is there, one line each")
  func writes() {
    let scheduler = TestScheduler()
    let events = PolicyEvents(time: scheduler.time)
    events.tell(BulkheadEvent.queued(1), of: "early")
    let log = PolicyEventLog(of: events)
    scheduler.advance(by: .seconds(2))
    events.tell(BulkheadEvent.queued(2), of: "search")
    events.tell(TimeoutEvent.timedOut(TimedOut(.total, limit: .seconds(2), name: "weather")), of: "weather")
    expectEqual(
      log.lines,
      [
        "2.0 seconds info search: bulkhead: queued; 2 wait",
        "2.0 seconds error weather: timeout: weather timed out after 2.0 seconds (total, limit 2.0 seconds, values: 0)",
      ]
    )
    expectEqual(log.events.map(\.source), ["search", "weather"])
  }
}
