import Combine
import ReboundTesting

/// A scheduler that writes down how it is asked, does the work when told to, and has a clock that a test sets.
final class NotingScheduler: Scheduler {
  private let work = TestScheduler()
  private(set) var log: [String] = []
  /// What was scheduled with an interval.
  private(set) var jobs: [SubscriptionSpy] = []
  /// How often somebody asked for the time.
  private(set) var readings = 0
  var time = VirtualTime.start

  var now: VirtualTime {
    readings += 1
    return time
  }

  var minimumTolerance: VirtualTime.Stride { .milliseconds(7) }

  func schedule(options: Never?, _ action: @escaping () -> Void) {
    log.append("at once")
    work.schedule(action)
  }

  func schedule(
    after date: VirtualTime,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    log.append("after \(date.nanoseconds / 1_000_000) ms, tolerance \(tolerance)")
    work.schedule(action)
  }

  func schedule(
    after date: VirtualTime,
    interval: VirtualTime.Stride,
    tolerance: VirtualTime.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    log.append("every \(interval) after \(date.nanoseconds / 1_000_000) ms")
    let job = SubscriptionSpy()
    jobs.append(job)
    return job
  }

  /// Does what was scheduled without an interval.
  func run() { work.advance() }
}
