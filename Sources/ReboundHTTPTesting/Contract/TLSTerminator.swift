/// What speaks TLS for servers that do not, so that a ``TransportContract`` can ask a transport for what lies behind a
/// handshake: whichever library or program the tests have for that.
///
///     let contract = TransportContract(tls: terminator) {
///       MyTransport(time: $0, reachability: $1, trusting: terminator.authority)
///     }
///
/// Its certificate is for 127.0.0.1, and one that the transport under test trusts. `Tests/ReboundHTTPTests` of this package has
/// one over OpenSSL, in one file.
public protocol TLSTerminator: Sendable {
  /// Begins to take connections on a free port of the loopback interface, several at once.
  ///
  /// Each has a connection of its own to the server, made when it is taken, and carries what is within TLS to that and back as
  /// it comes, without a look at it. When the server ends its side, the client is told (`close_notify`) and the connection
  /// closed once the client has closed it, too; a reset comes to the client as one, if that can be, or else as an end. When the
  /// client ends, or its connection breaks, the one to the server is closed.
  ///
  /// - Parameters:
  ///   - port: Where the server listens on the loopback interface, in the clear.
  ///   - protocols: What is offered to the client (ALPN, RFC 7301), the best first: "h2", or "http/1.1".
  /// - Returns: What takes the connections; nobody takes new ones once it is released.
  func listen(before port: UInt16, offering protocols: [String]) async throws -> any TLSListener
}

/// A port where connections with TLS are taken; see ``TLSTerminator``.
public protocol TLSListener: AnyObject, Sendable {
  /// Its number.
  var port: UInt16 { get }
}
