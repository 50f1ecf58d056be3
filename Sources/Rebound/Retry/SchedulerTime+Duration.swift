import Combine

extension SchedulerTimeIntervalConvertible {
  /// A pause on a scheduler, no shorter than a duration of at least zero and at most ``Swift/Duration/longestDelay``, to the
  /// nanosecond.
  package init(_ delay: Duration) {
    let (seconds, attoseconds) = delay.roundedUpToNanoseconds.components
    if let nanoseconds = Int(exactly: seconds * 1_000_000_000 + attoseconds / 1_000_000_000) {
      self = .nanoseconds(nanoseconds)
    } else {
      // More nanoseconds than an `Int` of 32 bits holds.
      self = .seconds(delay.inSeconds)
    }
  }
}

extension Duration {
  /// The length of a pause on a scheduler, to the nanosecond below, never negative.
  ///
  /// A stride converts from nanoseconds but never back, so this searches for the greatest number of them that does not
  /// exceed it, one bit at a time.
  ///
  /// - Complexity: As many comparisons as an `Int` has bits.
  package init<Stride: SchedulerTimeIntervalConvertible & Comparable & SignedNumeric>(approximating stride: Stride) {
    var nanoseconds = 0
    // A scheduler without time, such as the immediate one, has strides that are all equal to zero.
    if stride > .zero {
      var bit = Int.bitWidth - 2
      while bit >= 0 {
        let candidate = nanoseconds | (1 << bit)
        if Stride.nanoseconds(candidate) <= stride { nanoseconds = candidate }
        bit -= 1
      }
    }
    self = .nanoseconds(nanoseconds)
  }
}
