/// One of several parameters in the value of a header field, as `boundary` is in `multipart/mixed; boundary="a b"`.
///
/// Semicolons stand between those of a media type (RFC 9110 §5.6.6), commas between the directives of Cache-Control
/// (RFC 9111 §5.2); all else is written the same way. Parts that the standards have no place for are read as far as they
/// make sense.
struct FieldParameter: Hashable, Sendable {
  /// The name, as it is spelt; names know no case.
  let name: String
  /// The value, without its quotes and escapes; `nil` for a name alone.
  let value: String?
  /// Whether nothing stands around the value that belongs to none.
  let isWellFormed: Bool

  /// The parameters in a value, in their order; what precedes the first one is a name alone.
  ///
  /// By bytes: to whoever reads it, a quote with an accent on it is a quote.
  ///
  /// - Parameters:
  ///   - text: The value.
  ///   - separator: What stands between two of them.
  ///   - hasEscapes: Whether a backslash within quotes takes the next byte as it is.
  /// - Complexity: O(n) in the bytes. A quote that nothing ends is looked through once: behind it is no second one that
  ///   begins a value, or that one would end it.
  static func all(
    in text: String,
    apartBy separator: Unicode.Scalar = ";",
    hasEscapes: Bool = true
  ) -> [FieldParameter] {
    var scanner = Scanner(bytes: Array(text.utf8), separator: UInt8(ascii: separator), hasEscapes: hasEscapes)
    var parameters: [FieldParameter] = []
    while !scanner.isAtEnd {
      let parameter = scanner.next()
      if !parameter.name.isEmpty { parameters.append(parameter) }
    }
    return parameters
  }
}

private struct Scanner {
  let bytes: [UInt8]
  let separator: UInt8
  let hasEscapes: Bool
  private var position = 0

  init(bytes: [UInt8], separator: UInt8, hasEscapes: Bool) {
    self.bytes = bytes
    self.separator = separator
    self.hasEscapes = hasEscapes
  }

  var isAtEnd: Bool { position >= bytes.count }

  /// Reads one parameter, and the separator behind it.
  mutating func next() -> FieldParameter {
    let separator = separator
    let name = take { $0 != separator && $0 != UInt8(ascii: "=") }
    var (value, isWellFormed): (String?, Bool) = (nil, true)
    if position < bytes.count, bytes[position] == UInt8(ascii: "=") {
      position += 1
      _ = take(while: Scanner.isBlank)
      let quoted = takeQuoted()
      // A quote that nothing ends hides nothing.
      let isHalfQuoted = quoted == nil && position < bytes.count && bytes[position] == UInt8(ascii: "\"")
      if isHalfQuoted { position += 1 }
      let text = quoted ?? Array(take { $0 != separator && !Scanner.isBlank($0) })
      value = String(decoding: text, as: UTF8.self)
      isWellFormed = trimmed(take { $0 != separator }).isEmpty && !isHalfQuoted
    }
    position += 1
    return FieldParameter(
      name: String(decoding: trimmed(name), as: UTF8.self),
      value: value,
      isWellFormed: isWellFormed
    )
  }

  /// What stands between two quotes, if a quote stands here and another one ends it.
  private mutating func takeQuoted() -> [UInt8]? {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
    var content: [UInt8] = []
    var end = position + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
      if hasEscapes, bytes[end] == UInt8(ascii: "\\") { end += 1 }
      if end < bytes.count { content.append(bytes[end]) }
      end += 1
    }
    guard end < bytes.count else { return nil }
    position = end + 1
    return content
  }

  private mutating func take(while belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let part = bytes[position...].prefix(while: belongs)
    position = part.endIndex
    return part
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
