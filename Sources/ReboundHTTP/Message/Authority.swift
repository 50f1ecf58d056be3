import Foundation

/// The host of an address, and its port where one is named (RFC 3986 §3.2).
///
/// Foundation takes longer to take an address apart than a request to be sent through all else, and asks for it at several places.
struct Authority {
  let host: String?
  let port: Int?

  init(_ url: URL) { self.init(url.absoluteString) { url } }

  init(_ address: Address) { self.init(address.text) { address.url } }

  private init(_ text: String, _ url: () -> URL) {
    let found = text.utf8.withContiguousStorageIfAvailable { bytes in
      Authority.plain(bytes).map { host, port in
        (String(decoding: host, as: UTF8.self), port.isEmpty ? nil : port.reduce(0) { $0 * 10 + Int($1 & 15) })
      }
    }
    (host, port) = (found ?? nil) ?? (url().host, url().port)
  }

  /// Host and port of an address as one text, the host in lower case: "example.com:8080".
  static func text(_ address: Address) -> String {
    let found = address.text.utf8.withContiguousStorageIfAvailable { bytes -> String? in
      // A number is written without a zero before it.
      guard let (host, port) = Authority.plain(bytes), port.first != UInt8(ascii: "0") else { return nil }
      return String(decoding: bytes[host.startIndex..<port.endIndex], as: UTF8.self)
    }
    if let text = found ?? nil { return text }
    let authority = Authority(address)
    let host = authority.host?.lowercased() ?? ""
    return authority.port.map { host + ":" + String($0) } ?? host
  }

  typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  /// The host of an address, and the digits of its port, if it has one: of an address in whose host nothing is to be decoded, and
  /// that names no user; `nil` for all others.
  private static func plain(_ bytes: UnsafeBufferPointer<UInt8>) -> (host: Bytes, port: Bytes)? {
    guard let start = start(in: bytes) else { return nil }
    let rest = bytes[start...]
    let host = rest.prefix(while: isPlain)
    guard !host.isEmpty else { return nil }
    guard host.endIndex < rest.endIndex, rest[host.endIndex] == UInt8(ascii: ":") else {
      return isEnd(host.endIndex, of: rest) ? (host, rest[host.endIndex..<host.endIndex]) : nil
    }
    let digits = rest[(host.endIndex + 1)...].prefix(while: isDigit)
    return (1...5).contains(digits.count) && isEnd(digits.endIndex, of: rest) ? (host, digits) : nil
  }

  /// Where the authority of an address begins: behind its scheme.
  static func start(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    let slash = UInt8(ascii: "/")
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 2 < bytes.endIndex,
      bytes[colon + 1] == slash, bytes[colon + 2] == slash
    else { return nil }
    return colon + 3
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
  private static func isEnd(_ place: Int, of address: Bytes) -> Bool {
    guard place < address.endIndex else { return true }
    switch address[place] {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return true
    default: return false
    }
  }
}
