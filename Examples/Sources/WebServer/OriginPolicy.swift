/// Decides whether a request may have been made by whom it says: protects a local server from pages of other sites.
///
/// A foreign `Host` is what a DNS-rebinding attack sends; a foreign `Origin` is another site's page. Where a browser sends no
/// `Origin`, `Sec-Fetch-Site` says whose page it was; links from there may be followed, but nothing may be changed.
struct OriginPolicy: Sendable {
  let port: UInt16
  let hosts: Set<String>
  let allowedOrigins: Set<String>

  /// The reason to refuse a request, or nil to let it pass.
  func refusal(method: HTTPMethod, authority: String?, headers: Headers) -> HTTPError? {
    let hosts = headers.values(of: "Host")
    guard hosts.count == 1, let host = authority ?? hosts.first else {
      return HTTPError(400, "The request must have exactly one Host header")
    }
    guard isOwn(host) else {
      return HTTPError(403, "The host '\(host)' isn't served here")
    }
    let origins = headers.values(of: "Origin")
    guard let origin = origins.first else { return refusalOfForeignSite(method: method, headers: headers) }
    guard origins.count == 1, isOwnOrigin(origin) || isAllowedForeignOrigin(origin) else {
      return HTTPError(403, "Requests from the origin '\(origin)' aren't allowed")
    }
    return nil
  }

  private func refusalOfForeignSite(method: HTTPMethod, headers: Headers) -> HTTPError? {
    let own: Set = ["same-origin", "none"]
    let sites = headers.values(of: "Sec-Fetch-Site")
    guard method != .get, method != .head, !sites.allSatisfy({ own.contains($0.lowercased()) }) else { return nil }
    return HTTPError(403, "Requests from pages of other sites aren't allowed")
  }

  /// The headers that let a page of an allowed foreign origin read the answer.
  func sharingHeaders(for request: Headers, allowedMethods: String?) -> Headers {
    guard let origin = request["Origin"], isAllowedForeignOrigin(origin) else { return [:] }
    var headers: Headers = ["Access-Control-Allow-Origin": origin, "Vary": "Origin"]
    if request["Access-Control-Request-Method"] != nil, let allowedMethods {
      headers.add("Access-Control-Allow-Methods", allowedMethods)
      if let names = request["Access-Control-Request-Headers"] { headers.add("Access-Control-Allow-Headers", names) }
    }
    return headers
  }

  private func isOwn(_ host: String) -> Bool {
    let host = host.lowercased()
    return hosts.contains { host == "\($0):\(port)" || (port == 80 && host == $0) }
  }

  private func isOwnOrigin(_ origin: String) -> Bool {
    let scheme = "http://"
    return origin.lowercased().hasPrefix(scheme) && isOwn(String(origin.dropFirst(scheme.count)))
  }

  private func isAllowedForeignOrigin(_ origin: String) -> Bool {
    allowedOrigins.contains(origin.lowercased())
  }
}
