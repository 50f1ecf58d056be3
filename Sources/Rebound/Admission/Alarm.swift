import Combine

/// How one who waits is woken up.
struct Alarm {
  /// Calls a closure after so long, once, unless what is returned is cancelled before.
  let set: (Duration, @escaping @Sendable () -> Void) -> any Cancellable

  init(_ time: TimeSource) {
    set = { time.after($0, $1) }
  }
}
