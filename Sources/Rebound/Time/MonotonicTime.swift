/// Where state that is shared between executions gets its time: a length that only grows.
///
/// Never the wall clock, which jumps when someone sets it.
public struct MonotonicTime: Sendable {
  private let read: @Sendable () -> Duration

  /// Makes a source from a closure that returns how much time has passed since some moment.
  ///
  /// - Parameter read: Called from whichever thread needs the time. A step back counts as no time at all.
  public init(_ read: @escaping @Sendable () -> Duration) {
    self.read = read
  }

  /// The system's continuous clock, which runs on while the system sleeps.
  public static let continuous: MonotonicTime = {
    let start = ContinuousClock.now
    return MonotonicTime { start.duration(to: .now) }
  }()

  /// How much time has passed.
  public var now: Duration { read() }
}
