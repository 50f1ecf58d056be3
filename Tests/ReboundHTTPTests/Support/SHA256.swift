import Foundation

/// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for signatures in tests.
enum SHA256 {
  static func hash(_ message: Data) -> Data {
    var padded = [UInt8](message) + [0x80]
    padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
    padded += withUnsafeBytes(of: UInt64(message.count * 8).bigEndian) { Array($0) }
    var state = initial
    for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], into: &state) }
    return Data(state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
  }

  static func authenticationCode(of message: Data, key: Data) -> Data {
    let block = (key.count > 64 ? hash(key) : key) + Data(count: 64)
    let inner = Data(block.prefix(64).map { $0 ^ 0x36 })
    let outer = Data(block.prefix(64).map { $0 ^ 0x5C })
    return hash(outer + hash(inner + message))
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      block[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let small = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
      let large = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
      words.append(words[index - 16] &+ small &+ words[index - 7] &+ large)
    }
    var part = state
    for index in 0..<64 {
      let turned = rotated(part[4], 6) ^ rotated(part[4], 11) ^ rotated(part[4], 25)
      let choice = (part[4] & part[5]) ^ (~part[4] & part[6])
      let first = part[7] &+ turned &+ choice &+ constants[index] &+ words[index]
      let majority = (part[0] & part[1]) ^ (part[0] & part[2]) ^ (part[1] & part[2])
      let second = (rotated(part[0], 2) ^ rotated(part[0], 13) ^ rotated(part[0], 22)) &+ majority
      part = [first &+ second, part[0], part[1], part[2], part[3] &+ first, part[4], part[5], part[6]]
    }
    for index in state.indices { state[index] &+= part[index] }
  }

  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

  /// The first primes, whose roots the constants are made of.
  private static let primes: [Double] = {
    var found: [Int] = []
    var candidate = 2
    while found.count < 64 {
      if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
      candidate += 1
    }
    return found.map(Double.init)
  }()

  private static let initial = primes.prefix(8).map { fraction(of: $0.squareRoot()) }
  private static let constants = primes.map { fraction(of: cbrt($0)) }

  private static func fraction(of root: Double) -> UInt32 { UInt32((root - root.rounded(.down)) * 0x1p32) }
}
