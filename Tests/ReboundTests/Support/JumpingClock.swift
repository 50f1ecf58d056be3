import Rebound
import StreamSupport

/// A clock whose sleepers wake at once, because time jumps to their moment; or never, until they are cancelled.
///
/// Unchecked, because the lock guards what changes.
final class JumpingClock: Clock, @unchecked Sendable {
  struct Instant: InstantProtocol {
    var sinceStart: Duration

    func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
    func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
    static func < (left: Instant, right: Instant) -> Bool { left.sinceStart < right.sinceStart }
  }

  private let lock = Lock()
  private var instant = Instant(sinceStart: .zero)
  private let whenAsleep: (@Sendable () -> Void)?

  /// - Parameter whenAsleep: Called when someone goes to sleep, who then sleeps until cancelled; `nil` lets time jump.
  init(whenAsleep: (@Sendable () -> Void)? = nil) {
    self.whenAsleep = whenAsleep
  }

  var now: Instant { lock.withLock { instant } }
  var minimumResolution: Duration { .zero }

  func advance(by duration: Duration) {
    lock.withLock { instant = instant.advanced(by: duration) }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    guard let whenAsleep else { return lock.withLock { instant = max(instant, deadline) } }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    await withTaskCancellationHandler {
      whenAsleep()
      for await _ in stream {}
    } onCancel: {
      continuation.finish()
    }
    try Task.checkCancellation()
  }
}

extension JumpingClock {
  /// The same time for policies.
  var time: TimeSource { virtualTime(of: self) { $0.sinceStart } }
}

extension SteppedClock {
  /// The same time for policies.
  var time: TimeSource { virtualTime(of: self) { $0.sinceStart } }
}

/// The time of a clock for tests, from its own start.
private func virtualTime<C: Clock>(of clock: C, since: @escaping @Sendable (C.Instant) -> Duration) -> TimeSource
where C.Duration == Duration {
  let waiting = TimeSource(clock)
  return TimeSource(now: { since(clock.now) }, after: { waiting.after($0, $1) })
}
