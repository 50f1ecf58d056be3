import Combine
import Expectations
import Testing

@Suite("What every scheduler has")
struct SchedulerTests {
  /// Writes down what it is asked for.
  private final class Noting: Scheduler {
    typealias Time = ImmediateScheduler.SchedulerTimeType
    var log: [String] = []
    /// Whether what is scheduled, but does not repeat, is done at once.
    var isHasty = false
    var now: Time { ImmediateScheduler.shared.now }
    var minimumTolerance: Time.Stride { 7 }

    func schedule(options: String?, _ action: @escaping () -> Void) {
      log.append("now \(options ?? "nil")")
      if isHasty { action() }
    }

    func schedule(after date: Time, tolerance: Time.Stride, options: String?, _ action: @escaping () -> Void) {
      log.append("after \(tolerance.magnitude) \(options ?? "nil")")
      if isHasty { action() }
    }

    func schedule(
      after date: Time,
      interval: Time.Stride,
      tolerance: Time.Stride,
      options: String?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      log.append("every \(interval.magnitude) \(tolerance.magnitude) \(options ?? "nil")")
      return Subscriptions.empty
    }
  }

  @Test("what is left out is the least tolerance, and no options")
  func defaults() {
    let scheduler = Noting()
    scheduler.schedule {}
    scheduler.schedule(after: scheduler.now) {}
    scheduler.schedule(after: scheduler.now, tolerance: 3) {}
    _ = scheduler.schedule(after: scheduler.now, interval: 5) {}
    _ = scheduler.schedule(after: scheduler.now, interval: 5, tolerance: 3) {}
    expectEqual(scheduler.log, ["now nil", "after 7 nil", "after 3 nil", "every 5 7 nil", "every 5 3 nil"])
  }

  @Test("operators pass their options on, but for those that have none")
  func options() {
    let scheduler = Noting()
    Just(1).receive(on: scheduler, options: "a").subscribe(AnySubscriber(receiveSubscription: { $0.request(.max(1)) }))
    Just(1).delay(for: 1, scheduler: scheduler, options: "b")
      .subscribe(AnySubscriber(receiveSubscription: { $0.request(.max(1)) }))
    Just(1).subscribe(on: scheduler, options: "c").subscribe(AnySubscriber())
    expectEqual(scheduler.log, ["now a", "now a", "after 7 b", "after 7 b", "now c"])

    scheduler.log = []
    let subject = PassthroughSubject<Int, Never>()
    let handles = [
      subject.throttle(for: 5, scheduler: scheduler, latest: true).sink { _ in },
      subject.debounce(for: 5, scheduler: scheduler, options: "d").sink { _ in },
    ]
    subject.send(1)
    expectEqual(scheduler.log, ["now nil", "every 5 7 d"])
    scheduler.log = []
    for handle in handles { handle.cancel() }
    let timed = subject.timeout(5, scheduler: scheduler, options: "e").sink { _ in }
    subject.send(1)
    expectEqual(scheduler.log, ["every 5 7 e", "now e"])
    timed.cancel()
  }

  @Test("a delay waits with the tolerance that it is given")
  func toleranceOfDelay() {
    let scheduler = Noting()
    Just(1).delay(for: 1, tolerance: 3, scheduler: scheduler, options: "a")
      .subscribe(AnySubscriber(receiveSubscription: { $0.request(.max(1)) }))
    expectEqual(scheduler.log, ["after 3 a", "after 3 a"])
  }

  @Test("throttle has no options, and so has the end of a debounce")
  func withoutOptions() {
    let scheduler = Noting()
    scheduler.isHasty = true
    let subject = PassthroughSubject<Int, Never>()
    let throttled = subject.throttle(for: 5, scheduler: scheduler, latest: true).sink { _ in }
    // On this clock all time has passed at once.
    for value in 1...2 { subject.send(value) }
    expectEqual(scheduler.log, ["now nil", "now nil"])
    throttled.cancel()
    scheduler.log = []
    let debounced = subject.debounce(for: 5, scheduler: scheduler, options: "a").sink { _ in }
    subject.send(completion: .finished)
    expectEqual(scheduler.log, ["now nil"])
    debounced.cancel()
  }

  @Test("collect passes its options on for the clock, full groups and the end")
  func optionsOfCollect() {
    let scheduler = Noting()
    let subject = PassthroughSubject<Int, Never>()
    let handle = subject.collect(.byTimeOrCount(scheduler, 5, 2), options: "a").sink { _ in }
    for value in 1...2 { subject.send(value) }
    subject.send(completion: .finished)
    expectEqual(scheduler.log.first, "every 5 7 a")
    expectEqual(scheduler.log.filter { $0 == "now a" }.count, 2)
    #expect(!scheduler.log.contains { $0.hasSuffix("nil") })
    handle.cancel()
  }
}
