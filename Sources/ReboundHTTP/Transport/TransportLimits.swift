/// How long an exchange may take, and how much may come back; `nil` means no limit.
///
/// A limit of time that passes is a ``TransportFailure/Kind-swift.enum/timeout(_:)`` that names it. A limit of zero or
/// less has passed at once.
public struct TransportLimits: Hashable, Sendable {
  /// From the start until the connection stands, name look-up and TLS handshake included.
  ///
  /// A transport that cannot tell when that is leaves it to the idle limit.
  public var connect: Duration?
  /// Between one sign of life and the next: a byte sent, or received, or the start.
  public var idle: Duration?
  /// From the start to the end of the answer.
  public var total: Duration?
  /// How many bytes of body may come; one more is a ``TransportFailure/Kind-swift.enum/tooLarge``.
  public var responseBytes: Int64?

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - connect: From the start until the connection stands.
  ///   - idle: Between one sign of life and the next.
  ///   - total: From the start to the end of the answer.
  ///   - responseBytes: How many bytes of body may come.
  public init(
    connect: Duration? = nil,
    idle: Duration? = nil,
    total: Duration? = nil,
    responseBytes: Int64? = nil
  ) {
    self.connect = connect
    self.idle = idle
    self.total = total
    self.responseBytes = responseBytes
  }

  /// 10 s to connect, 30 s without a sign of life, no limit in all.
  public static let standard = TransportLimits(connect: .seconds(10), idle: .seconds(30))

  /// No limits at all.
  public static let none = TransportLimits()
}
