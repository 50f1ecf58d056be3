import Foundation

/// Who answers at an address: scheme, host and port (RFC 9110 §4.3.1).
struct Origin: Hashable {
  private let scheme: String?
  private let host: String?
  private let port: Int?

  init(_ url: URL) { self.init(Address(url)) }

  init(_ address: Address) {
    scheme = address.scheme
    let authority = address.authority
    host = authority.host?.lowercased()
    port = authority.port ?? (scheme == "https" ? 443 : 80)
  }

  var isSecure: Bool { scheme == "https" }
}
