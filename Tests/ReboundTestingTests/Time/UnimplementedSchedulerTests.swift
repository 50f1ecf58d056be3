import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("UnimplementedScheduler")
struct UnimplementedSchedulerTests {
  @Test("reports every use, and does no work")
  func reports() {
    let log = UseLog()
    let scheduler = UnimplementedScheduler("the pause", report: log.add)
    scheduler.schedule { Issue.record("the work was done") }
    scheduler.schedule(after: .start.advanced(by: 1)) { Issue.record("the work was done") }
    _ = scheduler.schedule(after: .start, interval: 2) { Issue.record("the work was done") }
    expectEqual(scheduler.now, .start)
    let calls = ["schedule", "schedule(after: 1.0 s)", "schedule(after: 0.0 s, interval: 2.0 s)", "now"]
    expectEqual(scheduler.uses.map(\.call), calls)
    expectEqual(log.uses, scheduler.uses)
    #expect(scheduler.uses.allSatisfy { $0.scheduler == "the pause" })
  }

  @Test("its time reports every use, too")
  func time() {
    let scheduler = UnimplementedScheduler("the pause")
    let time = scheduler.time
    #expect(scheduler.uses.isEmpty)
    expectEqual(time.now, .zero)
    time.after(.seconds(1)) { Issue.record("the work was done") }.cancel()
    expectEqual(scheduler.uses.map(\.call), ["now", "after(1.0 seconds)"])
  }

  @Test("stays silent where time plays no part")
  func silent() {
    let scheduler = UnimplementedScheduler("the pause")
    let recorder = Recorder<Int, Never>()
    Just(1).receive(on: scheduler).map { $0 }.subscribe(recorder)
    let used = scheduler.uses.count
    #expect(used > 0)
    Just(1).map { $0 }.subscribe(recorder)
    expectEqual(scheduler.uses.count, used)
  }

  @Test("says what happened and what to do")
  func words() {
    let scheduler = UnimplementedScheduler("the pause")
    scheduler.schedule {}
    expectEqual(
      scheduler.uses.first?.description,
      "UnimplementedScheduler \"the pause\": schedule was called, but the test says that time plays no part. "
        + "Give the code a TestScheduler if it may wait, or find out why it does."
    )
  }

  /// Unchecked, because the test runs on one thread.
  private final class UseLog: @unchecked Sendable {
    private(set) var uses: [UnimplementedScheduler.Use] = []
    func add(_ use: UnimplementedScheduler.Use) { uses.append(use) }
  }
}
