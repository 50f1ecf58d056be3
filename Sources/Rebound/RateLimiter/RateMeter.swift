/// Counts calls against a rate, lazily: nothing happens between two calls.
///
/// It has no clock; its owner tells it the time, which never goes back.
package struct RateMeter: Hashable, Sendable {
  private let meter: RateLimiterPolicy.Meter
  private let permits: Int
  private let period: Duration
  /// The share of the full rate that holds now.
  private var share = 1.0
  /// How long one token takes to come back, to the attosecond.
  private var interval: Duration
  /// How long all tokens of a bucket take.
  private var burst: Duration
  /// For a bucket: when it is full again.
  private var fullAt = Duration.zero
  /// For a fixed window: which one, and how many began in it.
  private var window: Int64 = 0
  private var begun = 0
  /// For a sliding window: when the last calls began, the oldest first; and how many of them have left it.
  private var moments: [Duration] = []
  private var left = 0

  package init(_ policy: RateLimiterPolicy) {
    meter = policy.meter
    permits = policy.permits
    period = policy.period
    (interval, burst) = (.zero, .zero)
    setInterval()
  }

  /// How many calls may begin within a period now.
  private var allowed: Int { max(Int(Double(permits) * share), 1) }

  /// Divisions of durations are long, so they are made when the share changes, and not for each call.
  private mutating func setInterval() {
    let even = max(period / permits, Duration(secondsComponent: 0, attosecondsComponent: 1))
    interval = share < 1 ? even * (1 / share) : even
    if case .bucket(let capacity) = meter { burst = interval * capacity }
  }

  /// Lets a call begin, if it may begin now.
  ///
  /// - Returns: How long it has to wait; zero if it has begun.
  package mutating func take(now: Duration) -> Duration {
    switch meter {
    case .bucket:
      let full = max(fullAt, now) + interval
      let latest = now + burst
      if full > latest { return full - latest }
      fullAt = full
      return .zero

    case .fixedWindow:
      // In whole nanoseconds, since a quotient of durations is a floating-point number, and may miss the border.
      let length = period.wholeNanoseconds
      let current = max(now.wholeNanoseconds, 0) / length
      if current > window { (window, begun) = (current, 0) }
      guard begun < allowed else { return max(.nanoseconds(length) * (window + 1) - now, .nanoseconds(1)) }
      begun += 1
      return .zero

    case .slidingWindow:
      while left < moments.count, moments[left] + period <= now { left += 1 }
      if left > 64, left * 2 > moments.count {
        moments.removeFirst(left)
        left = 0
      }
      let inside = moments.count - left
      guard inside < allowed else { return moments[moments.count - allowed] + period - now }
      moments.append(now)
      return .zero
    }
  }

  /// How long the last of so many calls, one behind the other, would have to wait.
  ///
  /// It is what taking them one by one comes to, to the attosecond.
  ///
  /// - Complexity: O(1).
  package func wait(for count: Int, now: Duration) -> Duration {
    guard count > 0 else { return .zero }
    switch meter {
    case .bucket:
      return max(max(fullAt, now) + interval * count - burst - now, .zero)

    case .fixedWindow:
      let length = period.wholeNanoseconds
      let current = max(max(now.wholeNanoseconds, 0) / length, window)
      let free = max(allowed - (current > window ? 0 : begun), 0)
      guard count > free else { return .zero }
      let later = Int64((count - free - 1) / allowed + 1)
      return max(.nanoseconds(length) * (current + later) - now, .nanoseconds(1))

    case .slidingWindow:
      // Each waits until the one that is so many places before it has left; all but the first round wait for one of the row.
      let (rounds, place) = (count - 1).quotientAndRemainder(dividingBy: allowed)
      let index = moments.count - allowed + place
      let first = index < 0 ? now : max(now, moments[index] + period)
      return first + period * rounds - now
    }
  }

  /// Sets the share of the full rate that holds from now on.
  package mutating func setShare(_ share: Double, now: Duration) {
    if fullAt > now {
      // What is missing is a number of tokens, which now come back at another pace.
      fullAt = now + (fullAt - now) * (self.share / share)
    }
    self.share = share
    setInterval()
  }
}

extension Duration {
  /// The nanoseconds of at most ``longestDelay``, rounded down.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = min(self, .longestDelay).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
