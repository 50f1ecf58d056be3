import Foundation

/// Where and why an answer could not be decoded.
public struct DecodingFailure: Hashable, Sendable {
  /// The place in the document: "list[2].temperature"; empty for the whole of it.
  public let path: String
  /// What should be there: "Double", or "a value for 'isAvailable'".
  public let expected: String?
  /// What is there: `a text: "12 °C"`; `nil` if that cannot be said.
  public let found: String?
  /// The beginning of the document, at most ``snippetLength`` characters, without secrets.
  public let snippet: String
  /// The decoder's own words.
  public let reason: String

  /// How long a snippet is at most.
  public static let snippetLength = 256

  /// Describes an error of a decoder.
  ///
  /// - Parameters:
  ///   - error: What the decoder threw.
  ///   - body: What it was to decode.
  ///   - redaction: What must not be seen.
  public init(_ error: any Error, body: Data, redaction: Redaction = .standard) {
    snippet = DecodingFailure.snippet(of: body, redaction)
    guard let error = error as? DecodingError else {
      (path, expected, found, reason) = ("", nil, nil, "\(error)")
      return
    }
    let (place, words): ([any CodingKey], String)
    switch error {
    case .typeMismatch(let type, let context):
      (place, expected, words) = (context.codingPath, "\(type)", context.debugDescription)
    case .valueNotFound(let type, let context):
      (place, expected, words) = (context.codingPath, "\(type)", context.debugDescription)
    case .keyNotFound(let key, let context):
      (place, expected, words) =
        (context.codingPath, "a value for '\(key.stringValue)'", context.debugDescription)
    case .dataCorrupted(let context):
      (place, expected, words) = (context.codingPath, nil, context.debugDescription)
    @unknown default:
      (place, expected, words) = ([], nil, "\(error)")
    }
    path = DecodingFailure.text(place)
    let value = DecodingFailure.value(at: place, in: body)
    let name = place.last { $0.intValue == nil }?.stringValue ?? ""
    let isCredential = value?.string.map { redaction.isCredential($0.utf8, of: name) } ?? false
    let isSecret = isCredential || place.contains { redaction.hides(parameter: $0.stringValue) }
    found = value.map { DecodingFailure.text($0, isSecret: isSecret) }
    reason = isSecret ? DecodingFailure.plain(words, without: value, redaction) : words
  }

  /// A decoder's words without a value: it says which number does not fit, and which text is no case of an enumeration.
  private static func plain(_ words: String, without value: JSONValue?, _ redaction: Redaction) -> String {
    switch value {
    case .string(let text) where !text.isEmpty:
      return words.replacingOccurrences(of: text, with: redaction.replacement, options: .literal)
    case .number:
      // It may be spelt in other ways than here.
      let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
      return words.split(separator: " ", omittingEmptySubsequences: false)
        .map { $0.utf8.contains(where: isDigit) ? redaction.replacement : String($0) }
        .joined(separator: " ")
    default:
      return words
    }
  }

  static func snippet(of body: Data, _ redaction: Redaction) -> String {
    // A few more bytes than are shown, so that a secret at the cut is known by its name; a character has up to four.
    let text = String(decoding: body.prefix(snippetLength * 8), as: UTF8.self)
    let shown = redaction.text(text)
    return shown.count > snippetLength ? shown.prefix(snippetLength - 1) + "…" : shown
  }

  private static func text(_ place: [any CodingKey]) -> String {
    place.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
  }

  private static func value(at place: [any CodingKey], in body: Data) -> JSONValue? {
    var value = try? JSONDecoder().decodeAnswer(JSONValue.self, from: body)
    for key in place {
      if let index = key.intValue {
        guard let elements = value?.elements, elements.indices.contains(index) else { return nil }
        value = elements[index]
      } else {
        value = value?[key.stringValue]
      }
    }
    return value
  }

  private static func text(_ value: JSONValue, isSecret: Bool) -> String {
    switch value {
    case .string where isSecret, .number where isSecret, .bool where isSecret: return value.kind
    case .string(let text): return "\(value.kind): \"\(text.prefix(64))\""
    case .number(let number): return "\(value.kind): \(number)"
    case .bool(let bool): return "\(value.kind): \(bool)"
    case .object(let members) where members.count <= 16:
      return "\(value.kind) with \(members.keys.sorted().map { "'\($0)'" }.joined(separator: ", "))"
    case .null, .array, .object: return value.kind
    }
  }
}

extension DecodingFailure: CustomStringConvertible {
  /// Where and why, in one line, with the beginning of the document.
  public var description: String {
    let place = path.isEmpty ? "the answer" : path
    let expectation = expected.map { "expected \($0)" } ?? reason
    let found = found.map { ", found \($0)" } ?? ""
    return "\(place): \(expectation)\(found); the answer begins with: \(snippet)"
  }
}
