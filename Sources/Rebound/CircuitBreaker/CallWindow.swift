/// The calls that a circuit breaker looks at, counted.
package struct CallWindow: Hashable, Sendable {
  package struct Counts: Hashable, Sendable {
    package var calls = 0
    package var failures = 0
    package var slow = 0

    mutating func add(_ other: Counts, times: Int = 1) {
      calls += other.calls * times
      failures += other.failures * times
      slow += other.slow * times
    }
  }

  /// Into how many parts a window of time is cut.
  private static let slotCount = 10

  private let slotLength: Duration?
  private let capacity: Int
  /// One call each, or one part of the time each; a ring.
  private var slots: [Counts] = []
  /// Where the next call goes, or the number of the part that time is in.
  private var position = 0
  /// When time leaves that part; only then is there anything to compute.
  private var end = Duration.zero
  package private(set) var counts = Counts()

  package init(_ window: CircuitBreakerPolicy.Window) {
    switch window {
    case .calls(let count): (slotLength, capacity) = (nil, count)
    case .time(let time):
      (slotLength, capacity) = (max(time / Self.slotCount, .nanoseconds(1)), Self.slotCount)
      slots = Array(repeating: Counts(), count: capacity)
    }
  }

  package mutating func add(isFailure: Bool, isSlow: Bool, now: Duration) {
    let call = Counts(calls: 1, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0)
    if slotLength != nil {
      move(to: now)
      slots[position % capacity].add(call)
    } else if slots.count < capacity {
      slots.append(call)
    } else {
      counts.add(slots[position], times: -1)
      slots[position] = call
      position = (position + 1) % capacity
    }
    counts.add(call)
  }

  /// When the next call moves the window; `nil` if each one does.
  package var slotEnd: Duration? { slotLength == nil ? nil : end }

  /// Adds calls that have ended since the last one was added, and before ``slotEnd``.
  package mutating func add(successes: Int) {
    let calls = Counts(calls: successes)
    slots[position % capacity].add(calls)
    counts.add(calls)
  }

  /// The calls in the window at a moment; looking changes nothing.
  package func counts(now: Duration) -> Counts {
    var copy = self
    copy.move(to: now)
    return copy.counts
  }

  /// Forgets what the window has left behind.
  private mutating func move(to now: Duration) {
    guard let slotLength, now >= end else { return }
    let current = Int(now / slotLength)
    end = slotLength * (current + 1)
    guard current > position else { return }
    for passed in 0..<min(current - position, capacity) {
      let slot = (current - passed) % capacity
      counts.add(slots[slot], times: -1)
      slots[slot] = Counts()
    }
    position = current
  }
}
