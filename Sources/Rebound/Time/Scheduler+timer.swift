import Combine

extension Scheduler {
  /// Does something after a pause, unless what is returned is cancelled before.
  ///
  /// A repeating timer, which the action has to cancel, since a scheduler's one-shot cannot be cancelled. The action may
  /// come before this returns; then the caller has to cancel what is returned.
  package func timer(
    after pause: Duration,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    let interval = SchedulerTimeType.Stride(pause.clampedToDelay)
    return schedule(
      after: now.advanced(by: interval),
      // Should it come twice before it is cancelled, it is for nothing: not without a pause, then.
      interval: max(interval, .milliseconds(1)),
      tolerance: minimumTolerance,
      options: options,
      action
    )
  }
}
