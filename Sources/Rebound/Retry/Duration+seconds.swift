extension Duration {
  /// The longest pause that this library handles, about 31 years; longer ones become this one.
  ///
  /// In nanoseconds it fits into `Int` ninefold, so sums with a scheduler's own time do not overflow.
  package static let longestDelay = Duration.seconds(1_000_000_000)

  /// The length in seconds, as close as a `Double` gets.
  package var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// A pause of this many seconds, rounded once to whole nanoseconds, never negative and never over ``longestDelay``.
  ///
  /// What is not a number is the outcome of infinity minus infinity in a formula that overflowed, so it saturates too.
  package init(saturatingSeconds seconds: Double) {
    guard seconds < Duration.longestDelay.inSeconds else {
      self = .longestDelay
      return
    }
    self = .nanoseconds(Int64((Swift.max(seconds, 0) * 1e9).rounded()))
  }

  /// This pause, brought into zero … ``longestDelay``.
  package var clampedToDelay: Duration {
    Swift.min(Swift.max(self, .zero), .longestDelay)
  }

  /// The shortest whole number of nanoseconds that is not shorter: a timer that counts in these would ring too early, and find
  /// nothing.
  package var roundedUpToNanoseconds: Duration {
    let (seconds, attoseconds) = components
    let nanoseconds = attoseconds / 1_000_000_000
    let whole = Duration(secondsComponent: seconds, attosecondsComponent: nanoseconds * 1_000_000_000)
    return whole < self ? whole + .nanoseconds(1) : whole
  }

  /// Makes this the latest present that calls have brought; a step back counts as no time at all.
  @inlinable
  @discardableResult
  mutating func advance(to now: Duration) -> Duration {
    self = Swift.max(self, now)
    return self
  }
}
