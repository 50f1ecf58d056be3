import StreamSupport

/// A scheduler's closure on its way to an API that wants it `@Sendable`.
///
/// Combine's schedulers take closures that are not marked so, and conformances outside of this module rely on that.
///
/// Unchecked, because a scheduler hands each closure over and never touches it again itself: it runs where the caller
/// of `schedule` asked for, and is as safe there as what the caller captured.
@usableFromInline
struct ScheduledAction: @unchecked Sendable {
  @usableFromInline let run: () -> Void

  @inlinable
  init(_ run: @escaping () -> Void) {
    self.run = run
  }
}

/// A closure that a run loop's timer does, until it is let go.
///
/// Foundation's timers never let go of their closures on Linux. So they get this object, and what the caller's closure
/// captured goes as soon as there is no more use for it.
///
/// Unchecked, because the lock guards the closure.
final class TimerAction: @unchecked Sendable {
  private let lock = Lock()
  // Guarded by `lock`; nil once it is let go.
  private var action: (() -> Void)?

  init(_ action: @escaping () -> Void) {
    self.action = action
  }

  func run() {
    lock.withLock { action }?()
  }

  func runAndLetGo() {
    take()?()
  }

  func letGo() {
    withExtendedLifetime(take()) {}
  }

  private func take() -> (() -> Void)? {
    lock.withLock {
      let action = self.action
      self.action = nil
      return action
    }
  }
}
