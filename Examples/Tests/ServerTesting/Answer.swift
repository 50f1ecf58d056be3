import Foundation

/// An answer as it came over the wire.
public struct Answer: Sendable {
  /// The status.
  public let status: Int
  /// The names, in lower case, and values of the headers.
  public let headers: [(name: String, value: String)]
  /// The body's bytes, as far as they came.
  public let body: Data

  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }

  /// The first value of a header.
  public subscript(header: String) -> String? {
    headers.first { $0.name == header.lowercased() }?.value
  }

  /// Takes an answer apart; nil if there is none.
  public init?(_ bytes: Data) {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")[...]
    guard let statusText = lines.popFirst()?.split(separator: " ").dropFirst().first, let status = Int(statusText)
    else {
      return nil
    }
    self.status = status
    headers = lines.compactMap { line in
      line.firstIndex(of: ":").map { colon in
        (
          line[..<colon].lowercased(),
          line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        )
      }
    }
    body = Data(bytes[end.upperBound...])
  }
}

extension LoopbackClient {
  /// Sends one request on a connection of its own, and reads until the server closes it.
  ///
  /// - Parameters:
  ///   - headers: Further headers; `Host` is the right one unless it is among them.
  /// - Returns: The answer, or nil if the server closed the connection without one.
  public static func request(
    _ method: String = "GET",
    _ target: String,
    port: UInt16,
    headers: [String] = [],
    body: Data? = nil
  ) async throws -> Answer? {
    let client = try LoopbackClient(port: port)
    var lines = ["\(method) \(target) HTTP/1.1", "Connection: close"] + headers
    if !headers.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
    if let body { lines.append("Content-Length: \(body.count)") }
    try await client.send(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? Data()))
    return Answer(try await client.receiveAll())
  }

  /// Sends a JSON body.
  public static func post(
    _ json: String,
    to target: String,
    port: UInt16,
    headers: [String] = []
  ) async throws -> Answer? {
    try await request(
      "POST",
      target,
      port: port,
      headers: ["Content-Type: application/json"] + headers,
      body: Data(json.utf8)
    )
  }
}
