import Foundation

extension JSONDecoder {
  /// Decodes what a server has sent.
  ///
  /// A decoder hashes the names of all members, and to hash a text takes time that grows with the square of a run of
  /// combining marks: seconds for a name of 100 KB. So a name is plain ASCII, or has at most 1,024 bytes as it is written.
  /// JSON5, whose names need no quotes, is not looked through.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if a name is longer, or what `decode(_:from:)` throws.
  /// - Complexity: Two passes over the bytes at most, one if they are plain ASCII, before they are decoded.
  func decodeAnswer<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
    if !allowsJSON5, MemberNames.areTooLong(in: body) {
      let text = "The name of a member has more than \(MemberNames.longest) bytes, and is not plain ASCII."
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
    }
    return try decode(type, from: body)
  }
}

/// What is known of the names of members in JSON before it is decoded.
private enum MemberNames {
  /// How many bytes a name may have that is not plain ASCII.
  static let longest = 1_024

  static func areTooLong(in body: Data) -> Bool {
    guard body.count > longest else { return false }
    let encoding = encoding(of: body)
    if encoding == .utf8 { return body.withUnsafeBytes { areTooLong(in: $0) } }
    // What is no text in its encoding cannot be decoded either.
    guard let text = String(data: body, encoding: encoding) else { return false }
    return Array(text.utf8).withUnsafeBytes { areTooLong(in: $0) }
  }

  /// The encodings that decoders know by the zeros beside the first character, which is ASCII, or by a byte order mark.
  private static func encoding(of body: Data) -> String.Encoding {
    let start = Array(body.prefix(4))
    return switch (start[0], start[1], start[2], start[3]) {
    case (0, 0, _, _): .utf32BigEndian
    case (_, 0, 0, 0), (0xFF, 0xFE, 0, 0): .utf32LittleEndian
    case (0, _, _, _), (0xFE, 0xFF, _, _): .utf16BigEndian
    case (_, 0, _, _), (0xFF, 0xFE, _, _): .utf16LittleEndian
    default: .utf8
    }
  }

  private static func areTooLong(in bytes: UnsafeRawBufferPointer) -> Bool {
    guard !bytes.allSatisfy(isPlain) else { return false }
    var position = 0
    while position < bytes.count {
      guard bytes[position] == quote else {
        position += 1
        continue
      }
      let start = position + 1
      var arePlain = true
      position = start
      while position < bytes.count, bytes[position] != quote {
        let byte = bytes[position]
        if !isPlain(byte) { arePlain = false }
        position += byte == backslash ? 2 : 1
      }
      let length = position - start
      position += 1
      if !arePlain, length > longest, isColonNext(in: bytes, from: position) { return true }
    }
    return false
  }

  /// Whether a text before this position is a name, not a value.
  private static func isColonNext(in bytes: UnsafeRawBufferPointer, from position: Int) -> Bool {
    bytes.dropFirst(position).first { !blanks.contains($0) } == UInt8(ascii: ":")
  }

  private static func isPlain(_ byte: UInt8) -> Bool { byte < 0x80 && byte != backslash }

  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  /// White space in JSON (RFC 8259 §2).
  private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
}
