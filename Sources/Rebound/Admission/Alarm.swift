import Combine
import StreamSupport

/// How one who waits is woken up: by a publisher's scheduler, or by an asynchronous function's clock.
struct Alarm {
  /// Calls a closure after so long, once, unless what is returned is cancelled before.
  let set: (Duration, @escaping @Sendable () -> Void) -> any Cancellable

  /// An alarm on a scheduler.
  init<Context: Scheduler>(_ scheduler: Context, options: Context.SchedulerOptions?) {
    set = { delay, action in
      let interval = Context.SchedulerTimeType.Stride(delay)
      let once = Once(action)
      // A repeating timer, stopped when it first fires, since a scheduler's one-shot cannot be cancelled.
      let timer = scheduler.schedule(
        after: scheduler.now.advanced(by: interval),
        interval: interval,
        tolerance: scheduler.minimumTolerance,
        options: options
      ) {
        once.fire()
      }
      once.keep(timer)
      return once
    }
  }

  /// An alarm on a clock.
  init<C: Clock>(_ clock: C) where C.Duration == Duration {
    set = { delay, action in
      let task = Task {
        guard (try? await clock.sleep(for: delay)) != nil else { return }
        action()
      }
      return AnyCancellable(task.cancel)
    }
  }

  /// Fires at the first of many times, and stops the timer that would go on.
  ///
  /// Unchecked, because the lock guards what changes.
  private final class Once: Cancellable, @unchecked Sendable {
    private let lock = Lock()
    private var action: (@Sendable () -> Void)?
    private var timer: (any Cancellable)?

    init(_ action: @escaping @Sendable () -> Void) {
      self.action = action
    }

    func keep(_ timer: any Cancellable) {
      let isWaiting = lock.withLock {
        guard action != nil else { return false }
        self.timer = timer
        return true
      }
      if !isWaiting { timer.cancel() }
    }

    func fire() {
      let action = stop()
      action?()
    }

    func cancel() {
      let action = stop()
      withExtendedLifetime(action) {}
    }

    private func stop() -> (@Sendable () -> Void)? {
      let (action, timer) = lock.withLock {
        let before = (self.action, self.timer)
        (self.action, self.timer) = (nil, nil)
        return before
      }
      timer?.cancel()
      return action
    }
  }
}
