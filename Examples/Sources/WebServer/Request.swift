import Foundation

/// A request as a handler sees it: complete, decoded, and within the server's limits.
public struct Request: Sendable {
  /// The method.
  public let method: HTTPMethod
  /// The target as it came, still encoded: `/isUserNameAvailable?userName=Zo%C3%AB`.
  public let target: String
  /// The decoded path.
  ///
  /// A segment's escaped slash can't be told from a separator here; see ``parameters``.
  public let path: String
  /// The decoded query, in order; repeated and valueless parameters are kept.
  public let query: [QueryItem]
  /// The headers.
  public let headers: Headers
  /// The body; empty where there is none.
  public let body: Data
  /// The values of a route's named segments: `id` of `/sessions/:id/events`.
  public internal(set) var parameters: [String: String] = [:]

  let segments: [String]

  init(method: HTTPMethod, target: String, decoded: RequestTarget, headers: Headers, body: Data) {
    self.method = method
    self.target = target
    self.path = decoded.path
    self.segments = decoded.segments
    self.query = decoded.query
    self.headers = headers
    self.body = body
  }

  /// Makes a request without a server, to test a handler.
  ///
  /// - Throws: ``HTTPError`` 400 if the target can't be decoded.
  public init(
    _ method: HTTPMethod,
    _ target: String,
    headers: Headers = [:],
    body: Data = Data()
  ) throws(HTTPError) {
    self.init(
      method: method,
      target: target,
      decoded: try RequestTarget(target),
      headers: headers,
      body: body
    )
  }

  /// The values of every query parameter of this name, in order; nil for one without `=`.
  public func queryValues(of name: String) -> [String?] {
    query.filter { $0.name == name }.map(\.value)
  }

  /// Decodes the body from JSON.
  ///
  /// - Throws: ``HTTPError`` 415 if the content type isn't `application/json`; 400 if the body isn't JSON, or isn't the
  ///   JSON that `type` needs, with a reason that names the field.
  public func decodeJSON<Value: Decodable>(_ type: Value.Type) throws(HTTPError) -> Value {
    let mediaType = headers["Content-Type"]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
    guard mediaType?.lowercased() == "application/json" else {
      throw HTTPError(415, "The body must be JSON, sent with Content-Type: application/json")
    }
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch let error as DecodingError {
      throw HTTPError(400, error.reasonForCaller)
    } catch let error as HTTPError {
      throw error
    } catch {
      throw HTTPError(400, "The body couldn't be read: \(error.localizedDescription)")
    }
  }
}

extension DecodingError {
  fileprivate var reasonForCaller: String {
    switch self {
    case .keyNotFound(let key, let context):
      "The field \(fieldName(context.codingPath + [key])) is missing"
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      context.codingPath.isEmpty
        ? "The body must be a JSON object"
        : "The field \(fieldName(context.codingPath)) must be of type \(type)"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      "The field \(fieldName(context.codingPath)) isn't valid: \(context.debugDescription)"
    case .dataCorrupted:
      "The body isn't valid JSON"
    @unknown default:
      "The body couldn't be read: \(localizedDescription)"
    }
  }

  private func fieldName(_ path: [any CodingKey]) -> String {
    path.map(\.stringValue).joined(separator: ".")
  }
}
