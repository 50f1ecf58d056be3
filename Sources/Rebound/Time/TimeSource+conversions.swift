import Combine
import Dispatch
import Foundation

/// What has a time of its own, such as a scheduler for tests.
public protocol TimeProviding: Sendable {
  /// Its time.
  var time: TimeSource { get }
}

extension TimeSource {
  /// The time of a scheduler; what waits is done on it.
  ///
  /// Dispatch queues, operation queues and run loops go by the same time as ``system``. The time of another scheduler
  /// begins when this is made, unless it says itself what its time is (``TimeProviding``): make such a source once, for all
  /// that share a breaker, a limiter or a budget.
  public init<Context: Scheduler>(_ scheduler: Context) {
    if let provider = scheduler as? any TimeProviding {
      self = provider.time
      return
    }
    let waiting: any WaitingTime = SchedulerTime(scheduler)
    let isReal = scheduler.goesBySystemTime
    self.init(
      now: { isReal ? Self.systemNow : waiting.elapsed },
      after: { delay, action in waiting.after(delay, action) }
    )
  }

  /// The time of a clock.
  ///
  /// The continuous and the suspending clock go by the same time as ``system``. That of another clock begins when this is
  /// made: make such a source once, for all that share a breaker, a limiter or a budget.
  public init<C: Clock>(_ clock: C) where C.Duration == Duration {
    let start = clock.now
    let isReal = clock is ContinuousClock || clock is SuspendingClock
    self.init(
      now: { isReal ? Self.systemNow : start.duration(to: clock.now) },
      after: { delay, action in
        let task = Task {
          guard (try? await clock.sleep(for: delay)) != nil else { return }
          action()
        }
        return SleepingTask(task: task)
      }
    )
  }
}

/// What is let go of goes on, as a timer of ``TimeSource/system`` does: an `AnyCancellable` would end it.
private struct SleepingTask: Cancellable {
  let task: Task<Void, Never>

  func cancel() { task.cancel() }
}

extension Scheduler {
  /// Whether it is one of the system's.
  var goesBySystemTime: Bool { self is DispatchQueue || self is OperationQueue || self is RunLoop }
}

/// What has time and timers.
package protocol WaitingTime: AnyObject, Sendable {
  var elapsed: Duration { get }
  func perform(_ action: @escaping () -> Void)
  func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable
}

/// A scheduler, asked for time and for timers from any thread.
///
/// Unchecked, because operators ask any scheduler for its time on whichever thread a value comes; one that could not bear
/// that would be of no use to Combine. Nothing here is changed.
package final class SchedulerTime<Context: Scheduler>: WaitingTime, @unchecked Sendable {
  private let scheduler: Context
  private let start: Context.SchedulerTimeType

  package init(_ scheduler: Context) {
    self.scheduler = scheduler
    start = scheduler.now
  }

  package var elapsed: Duration { Duration(approximating: start.distance(to: scheduler.now)) }

  package func perform(_ action: @escaping () -> Void) { scheduler.schedule(action) }

  package func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    let interval = Context.SchedulerTimeType.Stride(delay)
    let once = OneShot(action)
    // A repeating timer, stopped when it first fires, since a scheduler's one-shot cannot be cancelled.
    let timer = scheduler.schedule(
      after: scheduler.now.advanced(by: interval),
      // Should it come twice before it is cancelled, it is for nothing: not without a pause, then.
      interval: max(interval, .milliseconds(1)),
      tolerance: scheduler.minimumTolerance,
      options: nil
    ) {
      once.fire()
    }
    once.keep(timer)
    return once
  }
}
