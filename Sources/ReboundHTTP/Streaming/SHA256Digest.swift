import Foundation

/// SHA-256 (FIPS 180-4), piece by piece.
struct SHA256Digest {
  private static let blockCount = 64

  private var state = SHA256Digest.initial
  private var schedule = [UInt32](repeating: 0, count: 64)
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

  /// Takes in the next bytes.
  mutating func update(_ data: Data) {
    count += UInt64(data.count)
    var bytes = [UInt8](data)
    if !rest.isEmpty { bytes = rest + bytes }
    var start = 0
    while start + SHA256Digest.blockCount <= bytes.count {
      mix(bytes, at: start)
      start += SHA256Digest.blockCount
    }
    rest = Array(bytes[start...])
  }

  /// The digest of all that was taken in, in hexadecimal digits.
  func finalized() -> String {
    var copy = self
    var tail: [UInt8] = [0x80]
    tail += [UInt8](repeating: 0, count: (119 - rest.count) % SHA256Digest.blockCount)
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      tail.append(UInt8(truncatingIfNeeded: (count &* 8) >> shift))
    }
    copy.update(Data(tail))
    return copy.state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }
    .joined()
  }

  /// The digest of a text.
  static func hexadecimal(of text: String) -> String {
    var digest = SHA256Digest()
    digest.update(Data(text.utf8))
    return digest.finalized()
  }

  /// The digest of a file, which is read piece by piece.
  static func hexadecimal(ofFile url: URL) throws -> String {
    let reader = try FileReader(url)
    var digest = SHA256Digest()
    while true {
      let piece = try reader.read(upTo: 65_536)
      if piece.isEmpty { return digest.finalized() }
      digest.update(piece)
    }
  }

  private mutating func mix(_ bytes: [UInt8], at start: Int) {
    // With locals, loops and additions that a debug build makes no calls for; tests of large bodies take a third of the time then.
    // The schedule is taken out so that it is not copied.
    var words: [UInt32] = []
    swap(&words, &schedule)
    var index = 0
    while index < 16 {
      let place = start &+ index &* 4
      let high = UInt32(bytes[place]) &<< 24 | UInt32(bytes[place &+ 1]) &<< 16
      words[index] = high | UInt32(bytes[place &+ 2]) &<< 8 | UInt32(bytes[place &+ 3])
      index &+= 1
    }
    while index < 64 {
      let (early, late) = (words[index &- 15], words[index &- 2])
      let small = early.turned(7) ^ early.turned(18) ^ early &>> 3
      let large = late.turned(17) ^ late.turned(19) ^ late &>> 10
      words[index] = words[index &- 16] &+ small &+ words[index &- 7] &+ large
      index &+= 1
    }
    let constants = SHA256Digest.constants
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    index = 0
    while index < 64 {
      let choice = (e & f) ^ (~e & g)
      let first = h &+ (e.turned(6) ^ e.turned(11) ^ e.turned(25)) &+ choice &+ constants[index] &+ words[index]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let second = (a.turned(2) ^ a.turned(13) ^ a.turned(22)) &+ majority
      h = g
      g = f
      f = e
      e = d &+ first
      d = c
      c = b
      b = a
      a = first &+ second
      index &+= 1
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    swap(&words, &schedule)
  }

  /// The first 64 primes, whose roots the constants are made of.
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

extension UInt32 {
  /// Rotated to the right.
  fileprivate func turned(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 &- count) }
}
