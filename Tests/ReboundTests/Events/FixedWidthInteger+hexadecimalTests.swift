import Expectations
import Testing

@testable import Rebound

@Suite("Numbers in hexadecimal")
struct HexadecimalTests {
  @Test(
    "digits are read in both cases, zeros in front too, and nothing else",
    arguments: [
      ("0a", 10), ("FF", 255), ("aF", 175), ("9", 9), ("0007f", 127), ("", nil), ("+1", nil), ("-0", nil), ("100", nil),
      ("g0", nil),
      ("1 ", nil),
      ("0x1", nil), ("\u{10}1", nil), ("@0", nil), ("G", nil), ("/", nil), (":", nil), ("`", nil), ("１", nil),
    ]
  )
  func reading(_ digits: String, _ expected: UInt8?) {
    expectEqual(UInt8(hexadecimal: digits.utf8), expected)
  }

  @Test("all digits are written, and read again", arguments: [0, 1, 0x7F, 0x80, .max] as [UInt8])
  func writing(_ number: UInt8) {
    expectEqual(number.hexadecimal.count, 2)
    expectEqual(UInt8(hexadecimal: number.hexadecimal.utf8), number)
  }
}
