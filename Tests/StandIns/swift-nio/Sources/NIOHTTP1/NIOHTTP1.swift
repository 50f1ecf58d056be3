// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for NIOHTTP1 of swift-nio: the names and signatures that the adapter and the stand-in of AsyncHTTPClient use.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

public struct HTTPHeaders: Sequence, Sendable {
  private var fields: [(name: String, value: String)] = []

  public init() {}

  public mutating func add(name: String, value: String) {
    fields.append((name, value))
  }

  public subscript(name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }
}

public struct HTTPResponseStatus: Hashable, Sendable {
  public let code: UInt

  public init(statusCode: Int) {
    code = UInt(statusCode)
  }
}

public struct HTTPVersion: Hashable, Sendable {
  public let major: Int
  public let minor: Int

  public init(major: Int, minor: Int) {
    (self.major, self.minor) = (major, minor)
  }
}

public enum HTTPParserError: Error {
  case invalidEOFState, invalidVersion, invalidStatus, invalidHeaderToken, headerOverflow, invalidContentLength
  case invalidChunkSize, strictModeAssertion
}

extension HTTPParserError: CustomDebugStringConvertible {
  public var debugDescription: String {
    switch self {
    case .invalidEOFState: "stream ended at an unexpected time"
    case .invalidVersion: "invalid HTTP version"
    case .invalidStatus: "invalid HTTP status code"
    case .invalidHeaderToken: "invalid character in header"
    case .headerOverflow: "too many header bytes seen; overflow detected"
    case .invalidContentLength: "invalid character in content-length header"
    case .invalidChunkSize: "invalid character in chunk size header"
    case .strictModeAssertion: "strict mode assertion failed"
    }
  }
}
