import StreamSupport

/// Where timers of the system's time go instead, on a thread that a simulation has: code that was given no time waits in the
/// simulation, too.
package enum SystemTimers {
  private static let diversion = Locked<(@Sendable () -> TimeSource?)?>(nil)

  /// Has all timers of the system's time go elsewhere, where a closure says so.
  ///
  /// - Parameter source: Called on the thread that sets a timer; `nil` for the system's own.
  package static func divert(to source: @escaping @Sendable () -> TimeSource?) {
    diversion.withLock { $0 = source }
  }

  static var diverted: TimeSource? { diversion.withLock { $0 }?() }
}
