import StreamSupport

/// Marks a scheduler's closure for an API that wants it `@Sendable`.
///
/// Combine's schedulers take closures that are not marked so, and conformances outside of this module rely on that.
/// The mark is known to the compiler only, so it takes nothing at run time, in contrast to a closure around the closure.
@inlinable @inline(__always)
func sendable(_ action: @escaping () -> Void) -> @Sendable () -> Void {
  // The two types differ in nothing but the mark. A scheduler hands each closure over and never touches it again itself:
  // it runs where the caller of `schedule` asked for, and is as safe there as what the caller captured.
  unsafeBitCast(PlainAction(run: action), to: SendableAction.self).run
}

// Closures are cast inside of structures: by themselves they would be wrapped, to be called as generic code calls them.
@frozen
@usableFromInline
struct PlainAction {
  @usableFromInline let run: () -> Void

  @inlinable @inline(__always)
  init(run: @escaping () -> Void) {
    self.run = run
  }
}

@frozen
@usableFromInline
struct SendableAction {
  @usableFromInline let run: @Sendable () -> Void
}

/// A closure that a run loop's timer does, until it is let go.
///
/// Foundation's timers never let go of their closures on Linux. So they get this object, and what the caller's closure
/// captured goes as soon as there is no more use for it.
final class TimerAction: Sendable {
  /// Nil once it is let go.
  private let action: Locked<PlainAction?>

  init(_ action: @escaping () -> Void) {
    self.action = Locked(PlainAction(run: action))
  }

  func run() {
    action.withLock { $0 }?.run()
  }

  func runAndLetGo() {
    action.exchange(nil)?.run()
  }

  func letGo() {
    withExtendedLifetime(action.exchange(nil)) {}
  }
}
