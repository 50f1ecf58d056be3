import Foundation

/// Adds the key of the program to each request that goes to its service.
///
///     APIKey(.query("appid"), key)
///     APIKey(.header("X-API-Key"), key, for: "api.example.org")
///
/// The key is left out of everything that a client with this middleware writes for people: its name is among those that the
/// client's ``WebAPIClient/redaction`` hides, whether or not it was said there.
public struct APIKey: HTTPMiddleware, RequestAdapter {
  /// Where the key goes.
  public enum Placement: Hashable, Sendable {
    /// Into a header field.
    case header(String)
    /// Into a parameter of the query.
    case query(String)
  }

  fileprivate let placement: Placement
  private let key: @Sendable () -> String
  private let host: String?

  /// Makes the middleware.
  ///
  /// - Parameters:
  ///   - placement: Where the key goes.
  ///   - key: The key, asked for each attempt: it may be changed while the program runs.
  ///   - host: The only host that gets it; `nil` means the client's own service and its ``WebAPIClient/trustedOrigins``, and
  ///     none that a redirect of another origin leads to.
  public init(_ placement: Placement, _ key: @escaping @autoclosure @Sendable () -> String, for host: String? = nil) {
    self.placement = placement
    self.key = key
    self.host = host
  }

  /// Before anything is signed, whatever order they are given in.
  public var place: MiddlewarePlace { .adaptation }

  func adapt(_ request: inout HTTPRequest) {
    let isMeant =
      host.map { request.message.address.authority.host?.lowercased() == $0.lowercased() } ?? !request.hasLeftOrigin
    guard isMeant else { return }
    switch placement {
    case .header(let name):
      request.message.headers[name] = key()
    case .query(let name):
      let pair = Parameters([.init(name, key())]).queryEncoded
      if var components = URLComponents(url: request.message.url, resolvingAgainstBaseURL: true) {
        let queries = [components.percentEncodedQuery ?? "", pair].filter { !$0.isEmpty }
        components.percentEncodedQuery = queries.joined(separator: "&")
        request.message.url = components.url ?? request.message.url
      }
    }
  }
}

extension Redaction {
  /// The same list, and the names that keys of middleware go by.
  func hiding(keysOf middleware: [any HTTPMiddleware]) -> Redaction {
    middleware.reduce(self) { redaction, middleware in
      switch (middleware as? APIKey)?.placement {
      case .header(let name): redaction.hiding(header: name)
      case .query(let name): redaction.hiding(parameter: name)
      case nil: redaction
      }
    }
  }
}
