extension Duration {
  /// In nanoseconds, to the one below; saturates.
  var wholeNanoseconds: Int {
    let (seconds, attoseconds) = components
    let (product, overflow) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : product.addingClamped(Int(attoseconds / 1_000_000_000))
  }
}

extension Int {
  /// The sum; saturates.
  func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
