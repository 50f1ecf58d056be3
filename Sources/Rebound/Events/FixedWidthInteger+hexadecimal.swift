extension FixedWidthInteger {
  /// The number that these characters write in hexadecimal; `nil` if there are none, if one is no digit, a sign neither, or if the
  /// number is too large.
  package init?(hexadecimal digits: some Collection<UInt8>) {
    guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else { return nil }
    self.init(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  /// All its digits in hexadecimal, zeros in front included.
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
