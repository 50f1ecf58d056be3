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
