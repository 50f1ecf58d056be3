import Rebound

/// How far an exchange was when, as a transport measured it.
///
///     let client = client.onEvent { event in
///       if case .attemptSucceeded(_, let response) = event.kind, let timings = response.head.timings {
///         log.debug("\(timings)")
///       }
///     }
///
/// Each is the time since the transport began to work on the request, in real time, so that none is smaller than one before
/// it. What the transport does not know, or what there was not, is `nil`: over a connection that was kept there is no
/// ``nameLookup``, no ``connect`` and no ``tls``. `CurlTransport` tells them; `URLSessionTransport` does not.
///
/// They come with the head of an answer (``ResponseHead/timings``), if somebody watches: ``TransportRequest/wantsTimings``.
/// `HARLog` writes them down, and `Tracing` puts them into the attributes of its spans.
public struct TransportTimings: Hashable, Sendable {
  /// The address of the host was known.
  public var nameLookup: Duration?
  /// The connection stood, to the proxy if there is one.
  public var connect: Duration?
  /// The handshake of TLS was done.
  public var tls: Duration?
  /// The first byte of the answer came.
  public var firstByte: Duration?

  /// Makes timings.
  ///
  /// - Parameters:
  ///   - nameLookup: When the address of the host was known.
  ///   - connect: When the connection stood.
  ///   - tls: When the handshake of TLS was done.
  ///   - firstByte: When the first byte of the answer came.
  public init(
    nameLookup: Duration? = nil,
    connect: Duration? = nil,
    tls: Duration? = nil,
    firstByte: Duration? = nil
  ) {
    (self.nameLookup, self.connect, self.tls, self.firstByte) = (nameLookup, connect, tls, firstByte)
  }

  /// What is known, in microseconds, by the names of the attributes of a span.
  package var attributes: [(name: String, microseconds: Int)] {
    let named = [("name_lookup", nameLookup), ("connect", connect), ("tls", tls), ("first_byte", firstByte)]
    return named.compactMap { name, time in
      time.map { ("rebound.time.\(name)", Int(($0.clampedToDelay.inTimeInterval * 1_000_000).rounded())) }
    }
  }
}

extension TransportTimings: CustomStringConvertible {
  /// What is known, in milliseconds: "name lookup 0.4 ms, connect 1.2 ms, first byte 20.5 ms".
  public var description: String {
    let named = [("name lookup", nameLookup), ("connect", connect), ("TLS", tls), ("first byte", firstByte)]
    return named.compactMap { name, time in time.map { "\(name) \($0.inTimeInterval.tenthsOfMilliseconds) ms" } }
      .joined(separator: ", ")
  }
}

extension Double {
  /// Seconds as milliseconds with one digit behind the point.
  fileprivate var tenthsOfMilliseconds: Double { (self * 10_000).rounded() / 10 }
}
