import WebServer

/// A failure as RFC 9457 writes it: `application/problem+json`.
struct Problem: Error, Equatable {
  private struct Body: Encodable {
    let title: String
    let status: Int
    let detail: String
  }

  /// The status of the answer, 400 to 599.
  let status: Int
  /// What kind of failure it is, the same each time.
  let title: String
  /// What happened this time, for the person at the other end.
  let detail: String
  /// What a 401 asks for.
  var challenge: String?

  /// The answer that says so.
  func response() throws -> Response {
    var response = try Response.json(Body(title: title, status: status, detail: detail), status: status)
    response.headers = ["Content-Type": "application/problem+json"]
    if let challenge { response.headers.add("WWW-Authenticate", challenge) }
    return response
  }
}
