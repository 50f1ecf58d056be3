extension FixedWidthInteger {
  /// All its digits in hexadecimal, zeros in front included.
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
