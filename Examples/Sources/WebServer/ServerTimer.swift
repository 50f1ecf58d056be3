import Dispatch

/// Runs work later: behind delayed answers, heartbeats and the deadline of a shutdown.
///
/// The server takes one so that tests can decide when time passes.
public protocol ServerTimer: Sendable {
  /// Runs `work` once, after `delay`, on any thread.
  func run(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

/// The real clock: a timer of a Dispatch queue.
public struct DispatchServerTimer: ServerTimer {
  private let queue = DispatchQueue(label: "WebServer.timer")

  /// Makes a timer with a queue of its own.
  public init() {}

  /// Runs `work` once, after `delay`, on the timer's queue.
  public func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    let (seconds, attoseconds) = delay.components
    queue.asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) / 1e18, execute: work)
  }
}
