import Foundation

/// Who answers at an address: scheme, host and port (RFC 9110 §4.3.1).
struct Origin: Hashable {
  private let scheme: String?
  private let host: String?
  private let port: Int?

  init(_ url: URL) {
    scheme = url.plainScheme
    let authority = Authority(url)
    host = authority.host?.lowercased()
    port = authority.port ?? (scheme == "https" ? 443 : 80)
  }

  var isSecure: Bool { scheme == "https" }
}

extension URL {
  /// The scheme in lower case.
  var plainScheme: String? {
    // Nearly all have one of these, and Foundation takes the address apart for it.
    let address = absoluteString.utf8
    if address.starts(with: "https://".utf8) { return "https" }
    if address.starts(with: "http://".utf8) { return "http" }
    return scheme?.lowercased()
  }
}
