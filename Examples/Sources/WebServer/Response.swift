import Foundation

/// The answer to a request, including the ways in which a server can fail to give one.
public struct Response: Sendable {
  /// What follows the headers.
  public enum Content: Sendable {
    /// A whole body.
    case data(Data)
    /// The first bytes of a body: `Content-Length` promises `declaredLength`, then the connection is closed too early.
    case truncated(Data, declaredLength: Int)
    /// Events, sent as they come, until the stream is closed.
    case events(EventStream)
    /// Nothing at all: the connection is closed without an answer.
    case dropped
  }

  /// The status, 200 to 599.
  public var status: Int
  /// The headers.
  ///
  /// `Content-Length` and `Date` are the server's own business.
  public var headers: Headers
  /// The body.
  public var content: Content
  /// How long to wait before answering.
  ///
  /// No thread is held meanwhile.
  public var delay: Duration = .zero

  /// Makes an answer from its parts.
  public init(status: Int = 200, headers: Headers = [:], content: Content = .data(Data())) {
    self.status = status
    self.headers = headers
    self.content = content
  }

  /// Answers with bytes of a media type.
  public init(status: Int = 200, contentType: String, body: Data) {
    self.init(status: status, headers: ["Content-Type": contentType], content: .data(body))
  }

  /// Answers with a value as JSON, its keys in alphabetical order.
  ///
  /// - Throws: `EncodingError` if the value can't be written as JSON.
  public static func json(_ value: some Encodable, status: Int = 200) throws -> Response {
    Response(status: status, contentType: "application/json", body: try encodeJSON(value))
  }

  /// Answers with `{"error":true,"reason":…}`.
  public static func error(_ status: Int, _ reason: String, headers: Headers = [:]) -> Response {
    struct Body: Encodable {
      let error = true
      let reason: String
    }
    // A Bool and a String can always be encoded; the other branch only spares a trap.
    let body =
      (try? encodeJSON(Body(reason: reason))) ?? Data(#"{"error":true,"reason":"The reason can't be shown"}"#.utf8)
    var response = Response(status: status, contentType: "application/json", body: body)
    for field in headers.fields { response.headers.add(field.name, field.value) }
    return response
  }

  /// Answers with a failure.
  public static func error(_ error: HTTPError) -> Response {
    .error(error.status, error.reason, headers: error.headers)
  }

  /// Answers with a stream of server-sent events.
  public static func events(_ stream: EventStream) -> Response {
    Response(headers: ["Content-Type": "text/event-stream"], content: .events(stream))
  }

  /// Closes the connection without an answer.
  public static let dropped = Response(content: .dropped)

  /// The same answer, cut off half way: it promises the whole body, sends the first half, and closes the connection.
  ///
  /// Only a whole body can be cut; any other content stays as it is.
  public func truncated() -> Response {
    guard case .data(let body) = content else { return self }
    var response = self
    response.content = .truncated(body.prefix(body.count / 2), declaredLength: body.count)
    return response
  }

  /// Lets go of an answer that nobody will get.
  func discard() {
    if case .events(let stream) = content { stream.connectionEnded() }
  }
}

private func encodeJSON(_ value: some Encodable) throws -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return try encoder.encode(value)
}
