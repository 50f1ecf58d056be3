import Combine

/// The scheduler on which something lives, its type forgotten, and the time by which it waits there.
package struct TimedScheduler: Sendable {
  /// The time; what waits by it goes on wherever its timers are.
  package let time: TimeSource

  private let scheduler: any WaitingTime
  /// Whether timers go off on the scheduler by themselves.
  private let isOwnTime: Bool

  /// Takes a scheduler and a time.
  ///
  /// - Parameter time: `nil` for that of the scheduler, if it has one of its own, such as one for tests; otherwise
  ///   ``TimeSource/current``.
  package init<Context: Scheduler>(_ scheduler: Context, time: TimeSource?) {
    self.scheduler = SchedulerTime(scheduler)
    isOwnTime = time == nil && !scheduler.goesBySystemTime
    self.time = time ?? (isOwnTime ? TimeSource(scheduler) : .current)
  }

  /// Does something on the scheduler.
  package func perform(_ action: @escaping () -> Void) {
    scheduler.perform(action)
  }

  /// Does something on the scheduler after a while, once, unless what is returned is cancelled before.
  package func perform(after delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    let once = OneShot(action)
    once.keep(
      time.after(delay) { [isOwnTime, scheduler] in
        if isOwnTime { once.fire() } else { scheduler.perform { once.fire() } }
      }
    )
    return once
  }

  /// The time, with timers that go off on the scheduler.
  package var timeAtHome: TimeSource {
    isOwnTime
      ? time
      : TimeSource(now: { time.now }, wallClock: { time.wallClock }, after: { perform(after: $0, $1) })
  }
}
