/// The calls that a circuit breaker looks at, counted.
package struct CallWindow: Hashable, Sendable {
  package struct Counts: Summable {
    package var calls = 0
    package var failures = 0
    package var slow = 0

    mutating func add(_ other: Counts, times: Int) {
      calls += other.calls * times
      failures += other.failures * times
      slow += other.slow * times
    }
  }

  /// Those of a window of time; `nil` if the window is the last calls.
  private var recent: RecentCounts<Counts>?
  private let capacity: Int
  /// The last calls; a ring.
  private var last: [Counts] = []
  /// Where the next call goes.
  private var position = 0
  private var lastCounts = Counts()

  package init(_ window: CircuitBreakerPolicy.Window) {
    switch window {
    case .calls(let count): (recent, capacity) = (nil, count)
    case .time(let time): (recent, capacity) = (RecentCounts(window: time, from: .zero), 0)
    }
  }

  package var counts: Counts { recent?.total ?? lastCounts }

  package mutating func add(isFailure: Bool, isSlow: Bool, now: Duration) {
    let call = Counts(calls: 1, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0)
    if recent?.move(to: now) != nil {
      recent?.add(call)
      return
    }
    if last.count < capacity {
      last.append(call)
    } else {
      lastCounts.add(last[position], times: -1)
      last[position] = call
      position = (position + 1) % capacity
    }
    lastCounts.add(call, times: 1)
  }

  /// When the next call moves the window; `nil` if each one does.
  package var slotEnd: Duration? { recent?.slotEnd }

  /// Adds calls that have ended since the last one was added, and before ``slotEnd``.
  package mutating func add(successes: Int) { recent?.add(Counts(calls: successes)) }

  /// The calls in the window at a moment; looking changes nothing.
  package func counts(now: Duration) -> Counts {
    var copy = self
    copy.recent?.move(to: now)
    return copy.counts
  }
}
