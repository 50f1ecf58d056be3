extension Redaction {
  /// The text without the values of secret pairs in it, written as a form or a query has them, wherever these begin.
  ///
  /// Prose is no pair: a value stands right behind its equals sign, without quotes, and goes on to where a form would have
  /// escaped what comes, or to where a string of JSON ends that the pair stands in.
  ///
  /// - Complexity: O(n) in the length of the text.
  func withoutPairs(_ text: String) -> String {
    let equals = UInt8(ascii: "=")
    guard text.utf8.contains(equals) else { return text }
    var rest = Array(text.utf8)[...]
    var copied: [UInt8] = []
    while let end = rest.firstIndex(of: equals) {
      let (name, value) = (rest[..<end], rest[(end + 1)...])
      var valueEnd = value.startIndex
      if hidesPair(name, value) {
        let isHidden = value.starts(with: replacement.utf8)
        valueEnd = Redaction.valueEnd(value.dropFirst(isHidden ? replacement.utf8.count : 0))
      }
      copied += rest[...end]
      // Nothing but equals signs is the end of a text in the base of 64, whose letters may spell any name.
      if value[..<valueEnd].contains(where: { $0 != equals }) { copied += replacement.utf8 } else { valueEnd = end + 1 }
      rest = rest[valueEnd...]
    }
    return String(decoding: copied + rest, as: UTF8.self)
  }

  /// Whether a value is a secret, as far as what stands before its equals sign and its own beginning say.
  private func hidesPair(_ text: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
    guard Redaction.valueEnd(value.prefix(1)) > value.startIndex else { return false }
    // An index belongs to a name, but not what follows a list.
    let isIndexed = text.last == UInt8(ascii: "]")
    let start = text.lastIndex { Redaction.endsName($0) || (!isIndexed && "[]".utf8.contains($0)) }
    let name = start.map { text[($0 + 1)...] } ?? text
    guard !name.isEmpty, name.count <= Redaction.longestName else { return false }
    // In a string of JSON, the letter of an escape, or the digits of an ampersand, may stand between.
    let escape = start.map { text[$0] == UInt8(ascii: "\\") } ?? false
    let names = escape ? [name, name.dropFirst(name.starts(with: Redaction.ampersand) ? 5 : 1)] : [name]
    let beginning = value.prefix(32)
    return names.contains {
      hides(
        parameter: Redaction.name(Substring(decoding: $0, as: UTF8.self)),
        value: beginning[..<Redaction.valueEnd(beginning)]
      )
    }
  }

  /// Where the value ends that a text begins with.
  private static func valueEnd(_ text: ArraySlice<UInt8>) -> Int {
    var position = text.startIndex
    while position < text.endIndex, text[position] > UInt8(ascii: " "), !"&\"<".utf8.contains(text[position]) {
      if text[position] == UInt8(ascii: "\\") {
        let escape = text[(position + 1)...]
        if escape.first == UInt8(ascii: "\"") || escape.starts(with: ampersand) { break }
        position += 1
      }
      position += 1
    }
    return min(position, text.endIndex)
  }

  /// How some encoders of JSON write an ampersand, behind a backslash.
  private static let ampersand = Array("u0026".utf8)

  private static func endsName(_ byte: UInt8) -> Bool {
    byte <= UInt8(ascii: " ") || "\"'`\\&?#=;:,/|<>(){}".utf8.contains(byte)
  }
}
