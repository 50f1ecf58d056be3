import Foundation
import Rebound
import ReboundHTTP

extension WebAPIClient {
  /// A client with all middleware that there is, and a deadline, which delivers where the transport does.
  public static func withWholeStack(baseURL: URL, transport: any Transport) throws -> WebAPIClient {
    let tracing = Tracing { _ in }
    let session = TokenRefresher<String> { _ in .rejected(URLError(.userAuthenticationRequired)) }
    session.signIn(with: "token")
    var client = WebAPIClient(
      baseURL: baseURL,
      transport: transport,
      middleware: [
        Caching(in: HTTPCache()), Coalescing(), Retrying(.http), Cookies(),
        Authenticating(with: session) { $0["Authorization"] = "Bearer \($1)" },
        Protecting(try .consecutive(5, openFor: .seconds(30))), APIKey(.header("X-Api-Key"), "key"), tracing,
      ],
      deliveringOn: nil
    ).onEvent(tracing.write)
    client.deadline = .seconds(60)
    return client
  }
}
