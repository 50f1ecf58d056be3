extension Fault {
  /// The connection is reset as soon as the client has sent something.
  public static let resetOnAccept = Fault("reset on accept", at: .connection, [.readSome(atMost: 16), .reset])
  /// The connection is closed as soon as the client has sent something.
  public static let closeOnAccept = Fault("close on accept", at: .connection, [.readSome(atMost: 65_536), .close])
  /// Nobody ever reads.
  public static let stallOnAccept = Fault("stall on accept", at: .connection, [.stall, .reset])
  /// The server greets, as one of another protocol does.
  public static let otherProtocol = Fault(
    "other protocol",
    at: .connection,
    [.send("220 mail.invalid ESMTP ready\r\n"), .readSome(atMost: 65_536), .close]
  )

  /// A plain server answers a TLS handshake in plain HTTP.
  public static let plainAnswerToTLS = Fault(
    "plain answer to TLS",
    at: .handshake,
    [.readSome(atMost: 65_536), .send(Fault.head(400, length: 0)), .close]
  )
  /// The handshake is refused with an alert.
  public static let alertInHandshake = Fault(
    "alert in handshake",
    at: .handshake,
    [.readSome(atMost: 65_536), .send(TLSRecords.handshakeFailure), .close]
  )
  /// The connection is closed during the handshake.
  public static let closeInHandshake = Fault(
    "close in handshake",
    at: .handshake,
    [.readSome(atMost: 65_536), .close]
  )
  /// The connection is reset during the handshake.
  public static let resetInHandshake = Fault(
    "reset in handshake",
    at: .handshake,
    [.readSome(atMost: 65_536), .reset]
  )
  /// The handshake is never answered.
  public static let stallInHandshake = Fault(
    "stall in handshake",
    at: .handshake,
    [.readSome(atMost: 65_536), .stall, .reset]
  )
  /// The server shows a certificate that it has signed itself.
  public static let selfSignedCertificate = Fault(
    "self-signed certificate",
    at: .handshake,
    [.readSome(atMost: 65_536), .send(TLSRecords.selfSignedFlight), .readSome(atMost: 65_536), .close]
  )
}
