import Combine
import Rebound

/// A time that stands still: its timers fire when a test says so, and a cancel is only noted.
///
/// To let go of such a timer does not cancel it, as it is with the system's.
struct StillTime: Sendable {
  private struct Timer: Cancellable {
    let cancels: Log<Void>

    func cancel() { cancels.write(()) }
  }

  /// What the timers do, in the order in which they were set.
  let timers = Log<@Sendable () -> Void>()
  let cancels = Log<Void>()

  var source: TimeSource {
    TimeSource(
      now: { .zero },
      after: { [timers, cancels] _, action in
        timers.write(action)
        return Timer(cancels: cancels)
      }
    )
  }
}
