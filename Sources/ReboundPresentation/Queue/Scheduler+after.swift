import Combine
import Rebound

extension Scheduler {
  /// Does something after a while, unless what is returned is cancelled or released before.
  ///
  /// It is to be cancelled when it has been done, too: the form of `schedule` that can be cancelled is the one that
  /// repeats, here after more than 30 years.
  func perform(after delay: Duration, _ action: @escaping () -> Void) -> any Cancellable {
    schedule(
      after: now.advanced(by: SchedulerTimeType.Stride(delay.clampedToDelay)),
      interval: SchedulerTimeType.Stride(Duration.longestDelay),
      action
    )
  }
}
