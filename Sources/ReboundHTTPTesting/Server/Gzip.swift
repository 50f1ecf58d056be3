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
    // Eight repetitions are thirteen bytes, wherever in a byte they begin; after sixteen, the rest are copies.
    let groups = max(0, rest / (8 * 258) - 2)
    for _ in 0..<rest / 258 - groups * 8 {
      bits.writeCode(0b1100_0101, count: 8)
      bits.writeCode(0, count: 5)
    }
    bits.repeatLast(13, times: groups)
    rest %= 258
    for _ in 0..<rest { bits.writeCode(0b0011_0000, count: 8) }
    bits.writeCode(0, count: 7)
    let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    return header + bits.bytes + littleEndian(checksumOfZeros(count)) + littleEndian(UInt32(truncatingIfNeeded: count))
  }

  /// CRC-32 (RFC 1952 §8).
  ///
  /// A zero bit changes the checksum by a linear map; so many of them by a power of it, which squares make.
  private static func checksumOfZeros(_ count: Int) -> UInt32 {
    let apply = { (map: [UInt32], checksum: UInt32) -> UInt32 in
      var result: UInt32 = 0
      for bit in 0..<32 where checksum >> bit & 1 == 1 { result ^= map[bit] }
      return result
    }
    // What the map makes of each single bit.
    let polynomial: UInt32 = 0xEDB8_8320
    var map = [polynomial] + (0..<31).map { UInt32(1) << UInt32($0) }
    var checksum = UInt32.max
    var bits = count * 8
    while bits > 0 {
      if bits & 1 == 1 { checksum = apply(map, checksum) }
      map = map.map { apply(map, $0) }
      bits >>= 1
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

    /// Writes the last so many whole bytes again, before the bits of an unfinished one.
    mutating func repeatLast(_ count: Int, times: Int) {
      guard times > 0 else { return }
      let unfinished = used < 8 ? bytes.popLast() : nil
      let period = bytes.suffix(count)
      for _ in 0..<times { bytes += period }
      if let unfinished { bytes.append(unfinished) }
    }

    /// Writes a Huffman code, its highest bit first.
    mutating func writeCode(_ code: Int, count: Int) {
      for position in (0..<count).reversed() { write(code >> position & 1, count: 1) }
    }
  }
}
