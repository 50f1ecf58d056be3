import Foundation

/// A request of an app as a Swift test sends it again.
struct RequestInSwift {
  /// What it asks for, in words: the name of the test, and of its files.
  let name: String
  /// The module of the app's client.
  let module: String
  /// Makes the client, over `recorded`.
  let service: String
  /// The call of the client's method.
  let call: String
  /// Says when it is sent again; `nil` if it never is.
  var policy: String?
}

extension RequestInSwift {
  /// The query of a request as it was written down: "GET /weather?city=Oslo".
  static func query(of request: String) -> [String: String] {
    let items = request.split(separator: " ").last.flatMap { URLComponents(string: String($0))?.queryItems } ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }
}
