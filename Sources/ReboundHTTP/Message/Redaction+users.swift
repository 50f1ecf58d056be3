extension Redaction {
  /// The text without the users and passwords of addresses in it, wherever these begin, and percent-encoded or not.
  ///
  /// - Complexity: O(n) in the length of the text.
  func withoutUsers(_ text: String) -> String {
    let isPlain = !text.utf8.contains(UInt8(ascii: "@"))
    let mayBeEncoded = text.utf8.firstRange(of: "%40".utf8) != nil
    if isPlain, !mayBeEncoded { return text }
    let bytes = Array(text.utf8)
    let shown = isPlain ? bytes : withoutUsers(DecodedText(asItIs: bytes))
    return String(decoding: mayBeEncoded ? withoutUsers(DecodedText(decoding: shown)) : shown, as: UTF8.self)
  }

  private func withoutUsers(_ text: DecodedText) -> [UInt8] {
    var rest = text.bytes[...]
    var shown: [UInt8] = []
    while let start = rest.firstRange(of: "://".utf8)?.upperBound {
      shown += text.source(of: rest[..<start])
      rest = rest[start...]
      let authority = rest.prefix { $0 > UInt8(ascii: " ") && !"/?#".utf8.contains($0) }
      guard let end = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
      shown += replacement.utf8
      rest = rest[end...]
    }
    return shown + text.source(of: rest)
  }
}

/// The bytes that a text stands for, and where each of them is written.
struct DecodedText {
  private(set) var bytes: [UInt8] = []
  private let written: [UInt8]
  /// Where each byte begins, and where the text ends.
  private var starts: [Int] = []

  init(asItIs text: [UInt8]) {
    (written, bytes, starts) = (text, text, Array(0...text.count))
  }

  init(decoding text: [UInt8]) {
    written = text
    var position = 0
    while position < text.count {
      starts.append(position)
      let digits = text[position...].dropFirst().prefix(2)
      if text[position] == UInt8(ascii: "%"), digits.count == 2,
        let byte = UInt8(hexadecimal: digits)
      {
        bytes.append(byte)
        position += 3
      } else {
        bytes.append(text[position])
        position += 1
      }
    }
    starts.append(text.count)
  }

  /// How some of the bytes are written.
  func source(of part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    written[starts[part.startIndex]..<starts[part.endIndex]]
  }
}
