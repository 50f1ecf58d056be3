/// How a connection with TLS can break once the handshake is done, and what every transport is to make of it, over HTTP/1.1 and
/// HTTP/2.
///
/// A ``BreakingRelay`` before the ``TLSTerminator`` brings it about.
public struct SecureFaultCase: Hashable, Sendable, CustomStringConvertible {
  /// What the connection does: "is reset".
  public let name: String
  /// What the client gets to see.
  public let fault: BreakingRelay.Break
  /// How it ends once the request has been read.
  public let beforeHead = FaultCase.Verdict.failure(.reset)
  /// How it ends within the body of the answer.
  public let inBody = FaultCase.Verdict.failure(.truncated)

  /// The name.
  public var description: String { name }

  /// All of them.
  public static let all: [SecureFaultCase] = [
    SecureFaultCase("is reset", .reset),
    SecureFaultCase("ends without a word of TLS", .close),
    SecureFaultCase("goes on in plain text", .send(Array("HTTP/1.1 502 Bad Gateway\r\n\r\n".utf8))),
    SecureFaultCase("goes on with random bytes", .send((0..<512).map { UInt8(($0 * 151 + 7) % 251) })),
  ]

  private init(_ name: String, _ fault: BreakingRelay.Break) {
    (self.name, self.fault) = (name, fault)
  }
}
