import Foundation

extension URL {
  var canonical: String { Address(self).canonical }
}

extension Address {
  var spelledCanonically: String {
    // Most are, and to take them apart takes ten times as long.
    if text.utf8.withContiguousStorageIfAvailable(Address.isCanonical) ?? false { return text }

    let bytes = text.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    let start = bytes.index(colon, offsetBy: 3)
    let path = bytes[start...].firstIndex { "/?".utf8.contains($0) } ?? bytes.endIndex
    // Names and passwords know case.
    let host = bytes[start..<path].lastIndex(of: UInt8(ascii: "@")).map(bytes.index(after:)) ?? start
    let scheme = Address.lowercased(bytes[..<colon])
    var authority = Address.lowercased(bytes[host..<path])
    for port in [scheme == "https" ? ":443" : ":80", ":"] where authority.hasSuffix(port) {
      authority.removeLast(port.utf8.count)
      break
    }
    let user = String(decoding: bytes[start..<host], as: UTF8.self)
    let rest = String(decoding: bytes[path...], as: UTF8.self)
    return "\(scheme)://\(user)\(authority)\(rest.hasPrefix("/") ? "" : "/")\(rest)"
  }

  /// Whether that is so without a change; of some that are it is not seen.
  private static func isCanonical(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard
      let start = Authority.start(in: bytes), let path = bytes[start...].firstIndex(of: UInt8(ascii: "/"))
    else { return false }
    let port = bytes[start..<path].drop(while: Authority.isPlain)
    return bytes[..<(start - 3)].allSatisfy(Authority.isPlain) && (port.isEmpty || isOwnPort(port))
      && !bytes[path...].contains(UInt8(ascii: "#"))
  }

  /// Whether a port, with the colon before it, is none that a scheme has anyway.
  private static func isOwnPort(_ port: Authority.Bytes) -> Bool {
    let digits = port.dropFirst()
    return port.first == UInt8(ascii: ":") && !digits.isEmpty && digits.allSatisfy(Authority.isDigit)
      && !digits.elementsEqual("80".utf8) && !digits.elementsEqual("443".utf8)
  }

  private static func lowercased(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.map(HTTPHeaders.lowercased), as: UTF8.self)
  }
}
