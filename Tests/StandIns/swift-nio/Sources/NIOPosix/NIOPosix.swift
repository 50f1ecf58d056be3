// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for NIOPosix of swift-nio: what the stand-in of AsyncHTTPClient throws when it cannot connect.
///
/// The real types have no public initializers.
public struct SingleConnectionFailure: Sendable {
  public let error: any Error

  @_spi(StandIns) public init(error: any Error) {
    self.error = error
  }
}

public struct NIOConnectionError: Error {
  public let host: String
  public let port: Int
  public var dnsAError: (any Error)?
  public var connectionErrors: [SingleConnectionFailure] = []

  @_spi(StandIns) public init(host: String, port: Int) {
    (self.host, self.port) = (host, port)
  }
}
