import Foundation

extension Redaction {
  /// A line of prose without the secrets of addresses, pairs, header fields and members of JSON in it: for what somebody
  /// else's error says about itself.
  ///
  ///     Redaction.standard.line("failed: https://api.example/?access_token=abc")   // failed: https://api.example/?access_token=…
  ///     let lines = JSONLines(hiding: Redaction.standard.line)
  ///
  /// - Complexity: O(n) in the length of the text.
  public func line(_ text: String) -> String {
    let isBlank = { (byte: UInt8) in byte <= UInt8(ascii: " ") }
    var rest = Array(members(text).utf8)[...]
    var shown: [UInt8] = []
    var isCredential = false
    while let first = rest.first {
      if isBlank(first) {
        shown.append(rest.removeFirst())
        continue
      }
      let word = LineWord(rest.prefix { !isBlank($0) }, self)
      rest = rest.drop { !isBlank($0) }
      shown += isCredential ? Array(replacement.utf8) : word.shown
      isCredential = word.isScheme
      switch word.value {
      case .complete: continue
      case .opened(let quote): rest = quote.close(rest) ?? []
      case .awaited:
        let value = rest.drop(while: isBlank)
        // It may be of many words; without quotes, nothing says where it ends.
        rest = OpeningQuote(value).flatMap { $0.close(value.dropFirst($0.count)) } ?? []
      case .restOfLine: rest = []
      }
    }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Prose that may quote a body: a ``line(_:)`` without the pairs of forms in it, too.
  package func prose(_ text: String) -> String { line(self.text(text)) }
}

/// A word of a line, which may have addresses, pairs and fields in it.
///
/// By bytes: to whoever reads it, a colon with an accent on it is a colon.
private struct LineWord {
  /// What may be seen of it.
  private(set) var shown: [UInt8] = []
  /// How far the value goes that is hidden last.
  private(set) var value = Value.complete
  /// Whether the next word may be a credential: "Bearer", "[Bearer", "authorization=Bearer".
  let isScheme: Bool

  private let redaction: Redaction

  enum Value {
    /// No further than the word, or there is none.
    case complete
    /// To where a quote ends that has begun in the word.
    case opened(OpeningQuote)
    /// It is behind the word.
    case awaited
    /// All that follows in the line may belong to it.
    case restOfLine

    var isComplete: Bool { if case .complete = self { true } else { false } }
  }

  init(_ word: ArraySlice<UInt8>, _ redaction: Redaction) {
    self.redaction = redaction
    let end = word.lastIndex(where: LineWord.separates).map { word[($0 + 1)...] } ?? word
    isScheme = ["bearer", "basic"].contains { HTTPHeaders.equal(LineWord.unquoted(end), $0) }
    let parts = plain(word).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    for part in parts where value.isComplete {
      if part.startIndex > 0 { shown.append(UInt8(ascii: "&")) }
      append(part)
    }
    // What stands before the colon need not be a name alone: "request.token:".
    guard word.last == UInt8(ascii: ":"), shown.elementsEqual(word), word.firstRange(of: "://".utf8) == nil,
      redaction.hides(header: String(decoding: word.dropLast(), as: UTF8.self))
    else { return }
    shown += " \(redaction.replacement)".utf8
    value = .awaited
  }

  /// The word without users, passwords and fragments of addresses.
  private func plain(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let text = Array(redaction.withoutUsers(String(decoding: word, as: UTF8.self)).utf8)
    guard let address = text.firstRange(of: "://".utf8)?.upperBound else { return text[...] }
    return text[..<(text[address...].firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex)]
  }

  /// Adds what stands between two ampersands, up to the first secret in it.
  private mutating func append(_ part: ArraySlice<UInt8>) {
    // Where the parameter begins, as queries have them, and where anything else may.
    var (pair, start) = (part.startIndex, part.startIndex)
    var authorityEnd = part.startIndex
    if isCredential(part) { return hide(behind: part.prefix(0)) }
    for index in part.indices where LineWord.separates(part[index]) {
      let (name, rest) = (LineWord.unquoted(part[start..<index]), part[(index + 1)...])
      start = index + 1
      switch part[index] {
      case UInt8(ascii: "="):
        let parameter = Redaction.name(Substring(decoding: part[pair..<index], as: UTF8.self))
        let value = rest.drop(while: LineWord.isQuote)
        if redaction.hides(parameter: parameter, value: value) || redaction.hides(parameter: name) {
          self.value = LineWord.end(of: rest)
          return hide(behind: part[..<start])
        }
        pair = start
      case UInt8(ascii: ":") where rest.starts(with: "//".utf8):
        authorityEnd = rest.dropFirst(2).firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
      // Elsewhere than in front of a port.
      case UInt8(ascii: ":") where index >= authorityEnd && hidesField(name) && !isHidden(rest):
        shown += part[..<start] + (rest.isEmpty ? " " : "").utf8
        let isField = redaction.headers.contains(name.lowercased())
        value = rest.isEmpty ? .awaited : isField ? .restOfLine : LineWord.end(of: rest)
        return hide(behind: [])
      default:
        if "?#".utf8.contains(part[index]) { pair = start }
        if isCredential(rest) { return hide(behind: part[..<start]) }
      }
    }
    shown += part
  }

  private static func end(of value: ArraySlice<UInt8>) -> Value {
    guard let quote = OpeningQuote(value), quote.close(value.dropFirst(quote.count)) == nil else { return .complete }
    return .opened(quote)
  }

  private mutating func hide(behind text: ArraySlice<UInt8>) {
    shown += text + Array(redaction.replacement.utf8)
  }

  private func isCredential(_ rest: ArraySlice<UInt8>) -> Bool {
    redaction.isGuessing && Redaction.isCredential(rest.drop(while: LineWord.isQuote))
  }

  private func hidesField(_ name: String) -> Bool {
    name.utf8.count <= Redaction.longestName && name.utf8.allSatisfy(LineWord.isNameByte)
      && redaction.hides(header: name)
  }

  /// Whether the value of a member of JSON is hidden already.
  private func isHidden(_ value: ArraySlice<UInt8>) -> Bool { value.starts(with: "\"\(redaction.replacement)\"".utf8) }

  private static func unquoted(_ text: ArraySlice<UInt8>) -> String {
    let rest = text.drop(while: isQuote)
    let end = rest.lastIndex { !isQuote($0) }.map { $0 + 1 } ?? rest.startIndex
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// Whether a byte is a quote, or what is put before one.
  private static func isQuote(_ byte: UInt8) -> Bool { "\"'`\\".utf8.contains(byte) }

  private static func separates(_ byte: UInt8) -> Bool { "?#&=:/,;|()[]{}<>".utf8.contains(byte) }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      return true
    default:
      return false
    }
  }
}

/// What a value in quotes begins with: a quote, perhaps behind backslashes, as in a string within a string.
private struct OpeningQuote {
  private let bytes: ArraySlice<UInt8>
  var count: Int { bytes.count }

  init?(_ value: ArraySlice<UInt8>) {
    let escape = value.prefix { $0 == UInt8(ascii: "\\") }
    guard let quote = value[escape.endIndex...].first, "\"'`".utf8.contains(quote) else { return nil }
    bytes = value[...escape.endIndex]
  }

  /// What stands behind the end of the quote; `nil` if it does not end.
  func close(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = text
    while let end = rest.firstRange(of: bytes) {
      let isEscaped = count == 1 && text[..<end.lowerBound].last == UInt8(ascii: "\\")
      rest = rest[end.upperBound...]
      // The one in "it's" ends nothing.
      let isWithin = rest.first.map { $0 > UInt8(ascii: " ") && !",;:.?!&/|()[]{}<>".utf8.contains($0) } ?? false
      if !isEscaped, !isWithin { return rest }
    }
    return nil
  }
}
