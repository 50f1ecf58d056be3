/// Just enough of gzip to make a bomb.
enum Gzip {
  /// So many zero bytes, compressed.
  ///
  /// One deflate block with the fixed codes (RFC 1951 §3.2.6): a literal zero, and then repetitions of it.
  static func zeros(count: Int) -> [UInt8] {
    var bits = BitWriter()
    bits.write(0b011, count: 3)
    var rest = count
    if rest > 0 {
      bits.writeCode(0b0011_0000, count: 8)
      rest -= 1
    }
    while rest >= 258 {
      bits.writeCode(0b1100_0101, count: 8)
      bits.writeCode(0, count: 5)
      rest -= 258
    }
    for _ in 0..<rest { bits.writeCode(0b0011_0000, count: 8) }
    bits.writeCode(0, count: 7)
    let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    return header + bits.bytes + littleEndian(checksumOfZeros(count)) + littleEndian(UInt32(truncatingIfNeeded: count))
  }

  /// CRC-32 (RFC 1952 §8).
  private static func checksumOfZeros(_ count: Int) -> UInt32 {
    var checksum: UInt32 = .max
    for _ in 0..<count {
      for _ in 0..<8 { checksum = checksum & 1 == 0 ? checksum >> 1 : checksum >> 1 ^ 0xEDB8_8320 }
    }
    return ~checksum
  }

  private static func littleEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// Writes a number, its lowest bit first.
    mutating func write(_ number: Int, count: Int) {
      for position in 0..<count {
        if used == 8 {
          bytes.append(0)
          used = 0
        }
        bytes[bytes.count - 1] |= UInt8(number >> position & 1) << used
        used += 1
      }
    }

    /// Writes a Huffman code, its highest bit first.
    mutating func writeCode(_ code: Int, count: Int) {
      for position in (0..<count).reversed() { write(code >> position & 1, count: 1) }
    }
  }
}
