/// One parameter of a query: `name=value`, or `name` alone.
public struct QueryItem: Sendable, Equatable {
  /// The decoded name.
  public let name: String
  /// The decoded value; nil where there was no `=`.
  public let value: String?

  /// Makes an item.
  public init(name: String, value: String?) {
    self.name = name
    self.value = value
  }
}

/// A request target taken apart and decoded.
///
/// libmicrohttpd's own decoding isn't used: it joins `%2F` with the path's separators, leaves bad escapes as they are,
/// and doesn't check that the result is UTF-8.
struct RequestTarget: Equatable {
  /// Host and port of a target in absolute form (`http://host:port/…`), which then counts instead of the Host header
  /// (RFC 9112 §3.2.2).
  let authority: String?
  /// The path's segments, split before decoding, so that an escaped slash stays inside its segment.
  let segments: [String]
  let query: [QueryItem]

  var path: String { "/" + segments.joined(separator: "/") }

  init(_ raw: String) throws(HTTPError) {
    var rest = raw.utf8[...]
    if let fragment = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<fragment] }

    let scheme = "http://".utf8
    if rest.starts(with: scheme) {
      let afterScheme = rest.dropFirst(scheme.count)
      let end = afterScheme.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? afterScheme.endIndex
      authority = String(Substring(afterScheme[..<end]))
      rest = afterScheme[end...]
    } else {
      authority = nil
    }

    let questionMark = rest.firstIndex(of: UInt8(ascii: "?"))
    let rawPath = rest[..<(questionMark ?? rest.endIndex)]
    let rawQuery = questionMark.map { rest[rest.index(after: $0)...] } ?? rest[rest.endIndex...]

    let relativePath = rawPath.first == UInt8(ascii: "/") ? rawPath.dropFirst() : rawPath
    var segments: [String] = []
    for segment in relativePath.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      segments.append(try decode(segment, plusIsSpace: false))
    }
    self.segments = segments

    var query: [QueryItem] = []
    for pair in rawQuery.split(separator: UInt8(ascii: "&")) {
      let equals = pair.firstIndex(of: UInt8(ascii: "="))
      let name = try decode(pair[..<(equals ?? pair.endIndex)], plusIsSpace: true)
      let value: String? =
        if let equals { try decode(pair[pair.index(after: equals)...], plusIsSpace: true) } else { nil }
      query.append(QueryItem(name: name, value: value))
    }
    self.query = query
  }
}

private func decode(_ encoded: Substring.UTF8View, plusIsSpace: Bool) throws(HTTPError) -> String {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(encoded.count)
  var rest = encoded
  while let byte = rest.popFirst() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.popFirst().flatMap(hexadecimalValue), let low = rest.popFirst().flatMap(hexadecimalValue)
      else {
        throw HTTPError(400, "The request target contains a % that isn't followed by two hexadecimal digits")
      }
      bytes.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace:
      bytes.append(UInt8(ascii: " "))
    default:
      bytes.append(byte)
    }
  }
  guard let text = String(validating: bytes, as: UTF8.self) else { throw .targetIsNotUTF8 }
  return text
}

private func hexadecimalValue(_ digit: UInt8) -> UInt8? {
  Character(Unicode.Scalar(digit)).hexDigitValue.map(UInt8.init)
}

extension HTTPError {
  static let targetIsNotUTF8 = HTTPError(400, "The request target isn't valid UTF-8")
}
