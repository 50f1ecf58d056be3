import Rebound
import StreamSupport

/// Names calls: 16 hexadecimal digits, which do not repeat within 2⁶⁴ calls.
///
/// The first is drawn from a source of randomness, the others are made of it: to draw from the system is a system call,
/// and ids are no secrets.
final class CallIDs: Sendable {
  private let random: RandomSource
  private let last = Locked<UInt64?>(nil)

  init(_ random: RandomSource) {
    self.random = random
  }

  func next() -> String {
    if let number = advance() { return CallIDs.text(number) }
    let seed = UInt64(random.next() * 0x1p52) << 12 ^ UInt64(random.next() * 0x1p52)
    last.withLock { last in
      // Another thread may have been here meanwhile.
      if last == nil { last = seed }
    }
    return CallIDs.text(advance() ?? seed)
  }

  /// SplitMix64: a counter in steps that visit all numbers, and a mixing that maps no two of them to one (Steele, Lea and
  /// Flood, "Fast splittable pseudorandom number generators", 2014).
  private func advance() -> UInt64? {
    let counter: UInt64? = last.withLock { last in
      guard let counter = last else { return nil }
      last = counter &+ 0x9E37_79B9_7F4A_7C15
      return counter
    }
    return counter.map(SplitMix64.mixed)
  }

  /// A number in 16 hexadecimal digits.
  static func text(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      write(number, digits: 16, at: 0, in: buffer)
      return 16
    }
  }

  /// Writes the last digits of a number, which the buffer must have room for.
  static func write(_ number: UInt64, digits: Int, at start: Int, in buffer: UnsafeMutableBufferPointer<UInt8>) {
    for place in 0..<digits {
      let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * (digits - 1 - place))) & 15
      buffer[start + place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
  }
}
