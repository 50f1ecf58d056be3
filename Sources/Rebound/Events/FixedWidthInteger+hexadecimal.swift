extension FixedWidthInteger {
  /// All its digits in hexadecimal, zeros in front included.
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// The number that these characters write in hexadecimal; `nil` if there are none, if one is no digit, a sign neither, or if the
  /// number is too large.
  @inlinable
  package init?(hexadecimal digits: some Collection<UInt8>) {
    guard !digits.isEmpty else { return nil }
    self = 0
    for digit in digits {
      // The small letter of a capital one; digits have this bit.
      let small = digit | 0x20
      let value: UInt8
      switch small {
      case UInt8(ascii: "0")...UInt8(ascii: "9") where small == digit: value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = small - UInt8(ascii: "a") + 10
      default: return nil
      }
      guard leadingZeroBitCount >= 4 else { return nil }
      self = self << 4 | Self(value)
    }
  }
}
