/// How long an exchange may take, and how much may come back; `nil` means no limit.
///
/// A limit of time that passes is a ``TransportFailure/Kind-swift.enum/timeout(_:)`` that names it. A limit of zero or
/// less has passed at once.
///
///     var limits: TransportLimits? { TransportLimits(total: .seconds(60), responseBytes: 500 << 20) }
///
/// An answer is kept in memory whole, so its size is limited unless ``responseBytes`` is `nil`: a server that never
/// stops, or a few kilobytes that unpack to gigabytes, would take all there is. Streams of events, which are read as they
/// come, are not limited.
public struct TransportLimits: Hashable, Sendable {
  /// From the start until the connection stands, name look-up and TLS handshake included.
  ///
  /// A transport that cannot tell when that is leaves it to the idle limit.
  public var connect: Duration?
  /// Between one sign of life and the next: a byte sent, or received, or the start.
  public var idle: Duration?
  /// From the start to the end of the answer.
  public var total: Duration?
  /// How many bytes of body may come, counted after they are unpacked; ``standardResponseBytes`` by default.
  ///
  /// One more is a ``TransportFailure/Kind-swift.enum/tooLarge``, and stops the exchange.
  public var responseBytes: Int64?

  /// 64 MiB: much more than an answer that is to be parsed, much less than a phone can spare.
  public static let standardResponseBytes: Int64 = 64 << 20

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - connect: From the start until the connection stands.
  ///   - idle: Between one sign of life and the next.
  ///   - total: From the start to the end of the answer.
  ///   - responseBytes: How many bytes of body may come, counted after they are unpacked.
  public init(
    connect: Duration? = nil,
    idle: Duration? = nil,
    total: Duration? = nil,
    responseBytes: Int64? = TransportLimits.standardResponseBytes
  ) {
    self.connect = connect
    self.idle = idle
    self.total = total
    self.responseBytes = responseBytes
  }

  /// 10 s to connect, 30 s without a sign of life, 64 MiB; no limit of time in all.
  public static let standard = TransportLimits(connect: .seconds(10), idle: .seconds(30))

  /// No limits at all.
  public static let none = TransportLimits(responseBytes: nil)
}
