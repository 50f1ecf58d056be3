import Combine
import Rebound
import StreamSupport

/// A time that a test sets; its timers are noted, and fire when the test has set a time that is late enough for them.
final class HandSetTime: Sendable {
  private struct State {
    var now = Duration.zero
    var timers: [(due: Duration, action: @Sendable () -> Void)] = []
  }

  private let state = Locked(State())
  /// How long each timer was set for.
  let delays = Log<Duration>()

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += duration
      let due = state.timers.filter { $0.due <= state.now }
      state.timers.removeAll { $0.due <= state.now }
      return due
    }
    for timer in due { timer.action() }
  }

  /// Lets no timer fire, as when the system has slept and its timers are late.
  func setAhead(by duration: Duration) { state.withLock { $0.now += duration } }

  var source: TimeSource {
    TimeSource(
      now: { self.state.withLock { $0.now } },
      after: { delay, action in
        self.state.withLock { $0.timers.append(($0.now + delay, action)) }
        self.delays.write(delay)
        return AnyCancellable {}
      }
    )
  }
}
