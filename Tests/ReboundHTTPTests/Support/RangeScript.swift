import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting

/// Answers of a server that knows ranges, or does as if it did not.
struct RangeScript {
  var body: Data
  var headers: HTTPHeaders = ["ETag": "\"one\""]

  /// A body of so many bytes, no two thousand of which are alike.
  static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = SeededRandom(seed: seed)
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }

  /// What was asked for: the rest if it is, and all of it otherwise.
  ///
  /// - Parameter count: After how many bytes of it the connection breaks; `nil` for never.
  func answer(breakingAfter count: Int? = nil) -> ScriptedTransport.Step {
    .answering { [body, headers] request in
      let start = request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
      var fields = headers
      if let start { fields["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)" }
      let rest = Data(body.dropFirst(start ?? 0))
      return Self.step(start == nil ? 200 : 206, fields, rest, breakingAfter: count, request)
    }
  }

  /// All of it, whatever was asked for.
  func whole(breakingAfter count: Int? = nil) -> ScriptedTransport.Step {
    .answering { [body, headers] request in Self.step(200, headers, body, breakingAfter: count, request) }
  }

  private static func step(
    _ status: Int,
    _ headers: HTTPHeaders,
    _ body: Data,
    breakingAfter count: Int?,
    _ request: TransportRequest
  ) -> ScriptedTransport.Step {
    var fields = headers
    fields["Content-Length"] = "\(body.count)"
    guard let count else { return .response(status, fields, body) }
    let head = ResponseHead(status: status, headers: fields, url: request.url)
    return .failure(TransportFailure(.truncated), after: head, count > 0 ? [Data(body.prefix(count))] : [])
  }
}
