import Foundation
import ReboundHTTP

/// A request as a cassette compares it: what the redaction hides is replaced in all of it.
public struct CassetteRequest: Sendable {
  /// What was asked for.
  public let method: HTTPMethod
  /// Where.
  public let url: String
  /// The header fields.
  public let headers: HTTPHeaders
  /// What was sent along.
  public let body: Data

  init(_ request: TransportRequest, body: Data, _ redaction: Redaction) {
    method = request.method
    url = redaction.url(request.url)
    headers = redaction.headers(request.headers)
    self.body = redaction.archived(body, type: request.headers["Content-Type"])
  }

  init(_ request: HAR.Request, _ redaction: Redaction) throws(HAR.UndecodableBody) {
    method = HTTPMethod(rawValue: request.method)
    // Other programs hide nothing. It is not read as a URL, since what stands in the place of a secret need not be valid.
    url = redaction.archived(address: request.url)
    headers = redaction.headers(HAR.headers(request.headers))
    let type = headers["Content-Type"] ?? request.postData?.mimeType
    body = redaction.archived(try request.postData?.data() ?? Data(), type: type)
  }
}

extension CassetteRequest: CustomStringConvertible {
  /// Method and address: "GET https://api.example/weather?q=Rome".
  public var description: String { "\(method) \(url)" }
}

/// What of a request must be as it was recorded, for the recording to answer.
///
///     try CassetteTransport(file, matching: [.method, .path, .query(ignoring: ["time"]), .header("Accept")])
public struct CassetteRule: Sendable {
  /// Says what is different between a request and a recorded one, in words for people; nothing if it fits.
  public let differences: @Sendable (_ sent: CassetteRequest, _ recorded: CassetteRequest) -> [String]

  /// Makes a rule.
  ///
  /// - Parameter differences: Says what is different, in words that go on after "but": "q is 'Paris', not 'Rome'". It is
  ///   called from any thread, for each recording.
  public init(
    _ differences: @escaping @Sendable (_ sent: CassetteRequest, _ recorded: CassetteRequest) -> [String]
  ) {
    self.differences = differences
  }

  /// The method is the same.
  public static let method = CassetteRule { sent, recorded in
    difference("the method", sent.method.rawValue, recorded.method.rawValue)
  }

  /// Scheme, host, port, path and query are the same, whatever the order of the query's names.
  public static let url = CassetteRule { sent, recorded in
    CassetteRule.host.differences(sent, recorded) + CassetteRule.path.differences(sent, recorded)
      + CassetteRule.query().differences(sent, recorded)
  }

  /// Scheme, host and port are the same.
  public static let host = CassetteRule { sent, recorded in
    difference("the host", AddressParts(sent.url).host, AddressParts(recorded.url).host)
  }

  /// The path is the same.
  public static let path = CassetteRule { sent, recorded in
    difference("the path", AddressParts(sent.url).path, AddressParts(recorded.url).path)
  }

  /// The items of the query are the same: those of one name in the same order, different names in any.
  ///
  /// - Parameter names: The names of items that do not count, such as one with the time; decoded, or as the address spells them.
  public static func query(ignoring names: Set<String> = []) -> CassetteRule {
    let isIgnored = { @Sendable (name: String) in
      names.contains(name) || names.contains(Redaction.name(name[...]))
    }
    return CassetteRule { sent, recorded in
      let (sent, recorded) = (AddressParts(sent.url).items, AddressParts(recorded.url).items)
      return Set(sent.keys).union(recorded.keys).filter { !isIgnored($0) }.sorted().flatMap { name in
        difference("'\(name)' of the query", list(sent[name]), list(recorded[name]))
      }
    }
  }

  /// The values of a header field are the same; of one that the redaction hides, only whether it is there is known.
  public static func header(_ name: String) -> CassetteRule {
    CassetteRule { sent, recorded in
      difference("the field \(name)", sent.headers[name], recorded.headers[name])
    }
  }

  /// The bodies are the same: byte for byte, or the same JSON, or the same multipart form but for its boundary.
  public static let body = CassetteRule { sent, recorded in
    BodyDifference(sent, recorded).words
  }

  private static func list(_ values: [String]?) -> String? { values?.joined(separator: "', '") }

  private static func difference(_ name: String, _ sent: String?, _ recorded: String?) -> [String] {
    switch (sent, recorded) {
    case (let sent, let recorded) where sent == recorded: []
    case (nil, _): ["\(name) is missing"]
    case (let sent?, nil): ["\(name) is '\(sent)', and was not there"]
    case (let sent?, let recorded?): ["\(name) is '\(sent)', not '\(recorded)'"]
    }
  }
}

extension [CassetteRule] {
  /// Method, address and body.
  public static var standard: [CassetteRule] { [.method, .url, .body] }
}

/// The parts of an address, as far as it is one.
private struct AddressParts {
  let host: String
  let path: String
  let items: [String: [String]]

  init(_ address: String) {
    let (front, query) = address.divided(by: "?")
    let (scheme, rest) =
      front.range(of: "://").map { (front[..<$0.upperBound], front[$0.upperBound...]) } ?? ("", front[...])
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    host = (scheme + rest[..<slash]).lowercased()
    path = slash == rest.endIndex ? "/" : String(rest[slash...])
    let pairs = (query ?? "").split(separator: "&").map { String($0).divided(by: "=") }
    items = Dictionary(pairs.map { ($0.0, [$0.1 ?? ""]) }, uniquingKeysWith: +)
  }
}

extension String {
  fileprivate func divided(by separator: Character) -> (String, String?) {
    guard let place = firstIndex(of: separator) else { return (self, nil) }
    return (String(self[..<place]), String(self[index(after: place)...]))
  }
}
