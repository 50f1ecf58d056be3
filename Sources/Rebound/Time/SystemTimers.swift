import StreamSupport

/// Where the system's time and its timers come from instead, on a thread that a simulation has: code that was given no time waits
/// in the simulation, too.
package enum SystemTimers {
  /// A field of its own, because a function that itself is the state gets one wrapper more each time that it is read.
  private struct Diversion {
    var source: @Sendable () -> TimeSource? = { nil }
  }

  private static let diversion = Locked(Diversion())
  /// Zero until there is a diversion, so that a program without one pays for a load.
  private static let isDiverted = AtomicWord()

  /// Has the system's time come from elsewhere, where a closure says so.
  ///
  /// - Parameter source: Called on the thread that asks for the present or sets a timer; `nil` for the system's own.
  package static func divert(to source: @escaping @Sendable () -> TimeSource?) {
    diversion.withLock { $0.source = source }
    isDiverted.set(1)
  }

  static var diverted: TimeSource? {
    isDiverted.value == 0 ? nil : diversion.withLock { $0.source }()
  }
}
