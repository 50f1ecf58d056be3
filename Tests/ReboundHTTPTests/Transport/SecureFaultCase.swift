#if Curl && os(Linux)
  import ReboundHTTPTesting
  import Testing

  /// How a connection with TLS can break once the handshake is done, and what it is called.
  struct SecureFaultCase: Sendable, CustomTestStringConvertible {
    let name: String
    let fault: BreakingRelay.Break
    /// Once the request has been read, and within the body of the answer.
    let beforeHead = FaultCase.Verdict.failure(.reset)
    let inBody = FaultCase.Verdict.failure(.truncated)

    var testDescription: String { name }

    static let all: [SecureFaultCase] = [
      SecureFaultCase("is reset", .reset),
      SecureFaultCase("ends without a word of TLS", .close),
      SecureFaultCase("goes on in plain text", .send(Array("HTTP/1.1 502 Bad Gateway\r\n\r\n".utf8))),
      SecureFaultCase("goes on with random bytes", .send((0..<512).map { UInt8(($0 * 151 + 7) % 251) })),
    ]

    private init(_ name: String, _ fault: BreakingRelay.Break) {
      (self.name, self.fault) = (name, fault)
    }
  }
#endif
