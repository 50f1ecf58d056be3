import Foundation
import ReboundHTTP

/// A request that a server of a ``SimulatedNetwork`` has received.
public struct SimulatedRequest: Sendable {
  /// The host that sent it.
  public let client: String
  /// The address.
  public let url: URL
  /// What is asked for.
  public let method: HTTPMethod
  /// The header fields.
  public let headers: HTTPHeaders
  /// What was sent along.
  public let body: Data

  /// The path of the address.
  public var path: String { url.path }

  /// How many bytes it takes on a link, about as in HTTP/1.1.
  var size: Int { url.absoluteString.utf8.count + headers.size + body.count }
}

/// What a server of a ``SimulatedNetwork`` answers.
public struct SimulatedResponse: Sendable {
  /// The status.
  public var status: Int
  /// The header fields.
  public var headers: HTTPHeaders
  /// The parts of the body, each a message of its own; empty ones are left out, and all where HTTP has no body: behind
  /// status 204 or 304, and for a HEAD request.
  public var chunks: [Data]

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - headers: The header fields.
  ///   - body: The body.
  public init(_ status: Int = 200, _ headers: HTTPHeaders = [:], _ body: Data = Data()) {
    self.init(status, headers, chunks: [body])
  }

  /// Makes an answer whose body comes in parts.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - headers: The header fields.
  ///   - chunks: The parts.
  public init(_ status: Int = 200, _ headers: HTTPHeaders = [:], chunks: [Data]) {
    self.status = status
    self.headers = headers
    self.chunks = chunks.filter { !$0.isEmpty }
    let length = self.chunks.reduce(0) { $0 + $1.count }
    if length > 0, !headers.contains(name: "Content-Length") { self.headers["Content-Length"] = "\(length)" }
  }

  /// Status 200, or another, with a body of JSON.
  ///
  /// - Parameters:
  ///   - text: The body.
  ///   - status: The status.
  ///   - headers: Header fields, besides the content type.
  public static func json(_ text: String, status: Int = 200, _ headers: HTTPHeaders = [:]) -> SimulatedResponse {
    var headers = headers
    if !headers.contains(name: "Content-Type") { headers["Content-Type"] = "application/json" }
    return SimulatedResponse(status, headers, Data(text.utf8))
  }

  /// A status without a body.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - seconds: What the Retry-After field says.
  public static func status(_ status: Int, retryAfter seconds: Int? = nil) -> SimulatedResponse {
    SimulatedResponse(status, seconds.map { ["Retry-After": "\($0)"] } ?? [:])
  }

  /// What a client is told, in order, without the end.
  func parts(for request: TransportRequest) -> [SimulatedPart] {
    let hasBody = request.method != .head && status != 204 && status != 304
    return [.head(ResponseHead(status: status, headers: headers, url: request.url))]
      + (hasBody ? chunks.map { .chunk($0) } : [])
  }
}

/// What goes from a server to a client in one message.
enum SimulatedPart: Sendable {
  case head(ResponseHead)
  case chunk(Data)
  case end
  case failure(TransportFailure)

  /// How many bytes it takes on a link.
  var size: Int {
    switch self {
    case .head(let head): head.headers.size
    case .chunk(let data): data.count
    case .end, .failure: 0
    }
  }
}

extension HTTPHeaders {
  /// How many bytes they take, each with a colon, a space and the end of a line.
  fileprivate var size: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } }
}
