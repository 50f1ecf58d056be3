import Rebound

/// Percent-encoding by bytes (RFC 3986 §2.1).
///
/// A `%` that comes in is a character like others and goes out as `%25`: nothing is ever taken for encoded already.
enum PercentEncoding {
  private static let hexDigits = Array("0123456789ABCDEF".utf8)

  /// Encodes all but the unreserved characters: safe anywhere in an address.
  static func value(_ text: String) -> String { encode(text, sparing: "") }

  /// Encodes what may not stand in a path, and leaves its slashes and sub-delimiters alone.
  static func path(_ text: String) -> String { encode(text, sparing: "!$&'()*+,;=:@/") }

  /// Whether a text may stand behind the slash of an address as it is: a path, and a query if there is one.
  static func isPathAndQuery(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard rest.count >= 2, UInt8(hexadecimal: rest.prefix(2)) != nil else { return false }
        rest = rest.dropFirst(2)
      } else if !isUnreserved(byte), !pathAndQuery.contains(byte) {
        return false
      }
    }
    return true
  }

  private static let pathAndQuery = Array("!$&'()*+,;=:@/?".utf8)

  private static func encode(_ text: String, sparing others: StaticString) -> String {
    let isSpared = { (byte: UInt8) in isUnreserved(byte) || others.withUTF8Buffer { $0.contains(byte) } }
    // Most texts need nothing, and this is done for each request.
    var text = text
    if text.withUTF8({ $0.allSatisfy(isSpared) }) { return text }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isSpared(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      return true
    default:
      return false
    }
  }
}
