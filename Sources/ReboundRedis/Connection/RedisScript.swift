#if Redis
  /// A script that the server runs as one step: no other command comes between.
  ///
  /// It is called by the digest of its text. A server that does not know it, after a restart or a fail-over, is sent the
  /// text with the call.
  package struct RedisScript: Sendable {
    let text: [UInt8]
    let digest: [UInt8]

    package init(_ text: String) {
      self.text = Array(text.utf8)
      digest = SHA1.hexadecimalDigest(of: self.text)
    }
  }

  /// One command, ready to be sent.
  package struct RedisCommand: Sendable {
    let script: RedisScript?
    /// How many arguments there are; without those that call the script.
    private(set) var count: Int
    /// The arguments, as the protocol has them.
    private(set) var arguments: [UInt8]

    package init(_ words: String...) {
      (script, count, arguments) = (nil, 0, [])
      for word in words { add(word) }
    }

    package init(_ script: RedisScript, keys: [String]) {
      (self.script, count, arguments) = (script, 0, [])
      arguments.reserveCapacity(128)
      add(keys.count)
      for key in keys { add(key) }
    }

    package mutating func add(_ word: String) {
      var word = word
      word.withUTF8 { add(bytes: $0) }
    }

    mutating func add(_ bytes: [UInt8]) {
      bytes.withUnsafeBufferPointer { add(bytes: $0) }
    }

    mutating func add(_ number: Int) {
      // The digits backwards; an integer has twenty characters at most.
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
        var rest = number.magnitude
        var first = 20
        repeat {
          first -= 1
          digits[first] = UInt8(48 + rest % 10)
          rest /= 10
        } while rest > 0
        if number < 0 {
          first -= 1
          digits[first] = UInt8(ascii: "-")
        }
        add(bytes: UnsafeBufferPointer(rebasing: digits[first...]))
      }
    }

    private mutating func add(bytes: UnsafeBufferPointer<UInt8>) {
      count += 1
      arguments.append(UInt8(ascii: "$"))
      arguments.appendLength(bytes.count)
      arguments.append(contentsOf: bytes)
      arguments.appendLineEnd()
    }

    /// Writes the whole command behind what is there.
    ///
    /// - Parameter sendsText: Whether the script is sent with its text, for a server that does not know it.
    func write(to output: inout [UInt8], sendsText: Bool = false) {
      output.append(UInt8(ascii: "*"))
      guard let script else {
        output.appendLength(count)
        return output.append(contentsOf: arguments)
      }
      output.appendLength(count + 2)
      output.appendWord(sendsText ? Self.eval : Self.evalsha)
      output.appendWord(sendsText ? script.text : script.digest)
      output.append(contentsOf: arguments)
    }

    private static let eval = Array("EVAL".utf8)
    private static let evalsha = Array("EVALSHA".utf8)
  }

  extension [UInt8] {
    fileprivate mutating func appendWord(_ word: [UInt8]) {
      append(UInt8(ascii: "$"))
      appendLength(word.count)
      append(contentsOf: word)
      appendLineEnd()
    }

    fileprivate mutating func appendLength(_ length: Int) {
      var divisor = 1
      while length / divisor >= 10 { divisor *= 10 }
      while divisor > 0 {
        append(UInt8(48 + length / divisor % 10))
        divisor /= 10
      }
      appendLineEnd()
    }

    fileprivate mutating func appendLineEnd() {
      append(13)
      append(10)
    }
  }

  /// The digest by which servers know scripts.
  ///
  /// Source: FIPS 180-4, §6.1.
  enum SHA1 {
    static func hexadecimalDigest(of message: [UInt8]) -> [UInt8] {
      var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
      var padded = message + [0x80]
      padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
      let bits = message.count * 8
      padded += (0..<8).reversed().map { (place: Int) in UInt8(truncatingIfNeeded: bits >> (place * 8)) }
      for block in stride(from: 0, to: padded.count, by: 64) { add(padded[block..<block + 64], to: &state) }
      let digits = Array("0123456789abcdef".utf8)
      return state.flatMap { word in
        (0..<8).reversed().map { (place: Int) in digits[Int(word >> (place * 4) & 15)] }
      }
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
      var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
        block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      }
      for index in 16..<80 {
        words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      for index in 0..<80 {
        let (mixed, constant): (UInt32, UInt32) =
          switch index / 20 {
          case 0: ((b & c) | (~b & d), 0x5a82_7999)
          case 1: (b ^ c ^ d, 0x6ed9_eba1)
          case 2: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
          default: (b ^ c ^ d, 0xca62_c1d6)
          }
        let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ words[index]
        (e, d, c, b, a) = (d, c, rotated(b, by: 30), a, next)
      }
      for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 {
      word << count | word >> (32 - count)
    }
  }
#endif
