import Foundation

/// Who answers at an address: scheme, host and port (RFC 9110 §4.3.1).
struct Origin: Hashable {
  private let scheme: String?
  private let host: String?
  private let port: Int?

  init(_ url: URL) { self.init(Address(url)) }

  init(_ address: Address) {
    scheme = address.plainScheme
    let authority = Authority(address)
    host = authority.host?.lowercased()
    port = authority.port ?? (scheme == "https" ? 443 : 80)
  }

  var isSecure: Bool { scheme == "https" }
}

extension Address {
  /// The scheme in lower case.
  var plainScheme: String? {
    // Nearly all have one of these, and Foundation takes the address apart for it. Of ASCII, so that this compares memory.
    if text.hasPrefix("https://") { return "https" }
    if text.hasPrefix("http://") { return "http" }
    return url.scheme?.lowercased()
  }
}
