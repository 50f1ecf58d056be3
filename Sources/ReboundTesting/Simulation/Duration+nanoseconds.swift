extension Duration {
  /// In nanoseconds, towards zero; saturates.
  var wholeNanoseconds: Int {
    // First of all, since there are lengths whose seconds no 64 bits hold.
    let (seconds, attoseconds) = min(max(self, .nanoseconds(Int.min)), .nanoseconds(Int.max)).components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
  }
}

extension Int {
  /// The sum; saturates.
  func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
