import Foundation

/// Who answers at an address: scheme, host and port (RFC 9110 §4.3.1).
struct Origin: Equatable {
  private let scheme: String?
  private let host: String?
  private let port: Int?

  init(_ url: URL) {
    scheme = url.scheme?.lowercased()
    let authority = Authority(url)
    host = authority.host?.lowercased()
    port = authority.port ?? (scheme == "https" ? 443 : 80)
  }
}
