import Foundation

/// The host of an address, and its port where one is named (RFC 3986 §3.2).
///
/// Foundation takes longer to take an address apart than a request to be sent through all else, and asks for it at several places.
struct Authority {
  let host: String?
  let port: Int?

  init(_ url: URL) {
    if let (host, port) = Authority.plain(url.absoluteString) {
      (self.host, self.port) = (host, port)
    } else {
      (host, port) = (url.host, url.port)
    }
  }

  /// Host and port of an address as one text, the host in lower case: "example.com:8080".
  static func text(_ url: URL) -> String {
    let address = url.absoluteString
    if let text = address.utf8.withContiguousStorageIfAvailable(plainText) ?? nil { return text }
    let authority = Authority(url)
    let host = authority.host?.lowercased() ?? ""
    return authority.port.map { host + ":" + String($0) } ?? host
  }

  /// Of an address that has it as it is; `nil` for all others.
  private static func plainText(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return nil
    }
    let rest = bytes[(colon + 3)...]
    let host = rest.prefix(while: isPlain)
    var end = host.endIndex
    if end < rest.endIndex, rest[end] == UInt8(ascii: ":") {
      let digits = rest[(end + 1)...].prefix(while: isDigit)
      // A number is written without a zero before it.
      guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
      end = digits.endIndex
    }
    guard !host.isEmpty, isEnd(end, of: rest) else { return nil }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// Of an address in whose host nothing is to be decoded, and that names no user; `nil` for all others.
  private static func plain(_ address: String) -> (host: String, port: Int?)? {
    let found = address.utf8.withContiguousStorageIfAvailable { bytes -> (host: String, port: Int?)? in
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
        return nil
      }
      let rest = bytes[(colon + 3)...]
      let host = rest.prefix(while: isPlain)
      guard !host.isEmpty else { return nil }
      guard host.endIndex < rest.endIndex, rest[host.endIndex] == UInt8(ascii: ":") else {
        return isEnd(host.endIndex, of: rest) ? (String(decoding: host, as: UTF8.self), nil) : nil
      }
      let digits = rest[(host.endIndex + 1)...].prefix(while: isDigit)
      guard (1...5).contains(digits.count), isEnd(digits.endIndex, of: rest) else { return nil }
      return (String(decoding: host, as: UTF8.self), digits.reduce(0) { $0 * 10 + Int($1 & 15) })
    }
    return found ?? nil
  }

  /// Whether a byte of a host is spelt in one way only.
  static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// Whether the authority ends here: what else may stand in one is not plain.
  private static func isEnd(_ place: Int, of address: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    place == address.endIndex || "/?#".utf8.contains(address[place])
  }
}
