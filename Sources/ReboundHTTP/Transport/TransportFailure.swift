import Foundation

/// The network failed: no answer, or not all of it.
///
/// The same fault has the same kind on every platform and transport, however the system's own codes call it.
public struct TransportFailure: Error, Sendable {
  /// What went wrong.
  public enum Kind: Hashable, Sendable {
    /// The device has no network.
    case offline
    /// The host's name is not known, or nobody could be asked for it.
    case dns
    /// Nobody takes the connection: refused, or no way there.
    case connect
    /// No secure connection can be made.
    case tls(TLSReason)
    /// The proxy that stands between has failed, not the host that was asked for.
    case proxy(ProxyReason)
    /// It took too long.
    case timeout(TimeoutPhase)
    /// The connection was broken off, or closed before an answer.
    case reset
    /// The answer began and its end is missing.
    case truncated
    /// What came is no HTTP.
    case `protocol`
    /// Somebody other than the subscriber has cancelled it, the system for one.
    case cancelled
    /// One redirect led to the next, too often or in a circle.
    case tooManyRedirects
    /// More came than the limits allow.
    case tooLarge
    /// The request's own body could not be read.
    case body
    /// Anything else; see ``TransportFailure/underlying``.
    case other
  }

  /// Why no secure connection can be made.
  public enum TLSReason: Hashable, Sendable {
    /// Nobody who is trusted vouches for the certificate.
    case untrusted
    /// The certificate's time is over.
    case expired
    /// The certificate's time has not begun.
    case notYetValid
    /// The certificate is for another host.
    case wrongHost
    /// The certificate was revoked.
    case revoked
    /// The server's key is none of those that were pinned, or a host with pins was asked for in the clear.
    case notPinned
    /// The server wants a certificate of the client, or refuses the one it got.
    case clientCertificate
    /// The two sides do not come to terms; a server that speaks no TLS looks like this, too.
    case handshake
    /// Anything else.
    case other
  }

  /// What a proxy did in place of passing the request on.
  public enum ProxyReason: Hashable, Sendable {
    /// Its name is not known, or it takes no connection.
    case unreachable
    /// It wants credentials, or refuses the ones it got (407).
    case credentials
    /// It answered the request for a tunnel with this status.
    case refused(Int)
    /// It broke the connection before there was a tunnel, or does not speak HTTP.
    case broken
  }

  /// What took too long; see ``TransportLimits``.
  public enum TimeoutPhase: Hashable, Sendable {
    /// The making of the connection.
    case connect
    /// The wait for the next sign of life.
    case idle
    /// All of it together.
    case total
  }

  /// What went wrong.
  public var kind: Kind
  /// How many bytes were sent, as far as the transport knows; more than zero once the server may have seen any.
  public var bytesSent: Int64
  /// Whether the transport knows that nothing of the request, its head included, has gone to the server: `true` if it does,
  /// `false` if some may have, `nil` if it cannot tell.
  public var isUnsent: Bool?
  /// Whether the server has said that it did not look at the request, whatever was sent of it (RFC 9113 §8.7): `false`
  /// also where the transport cannot tell.
  public var isUnprocessed: Bool
  /// How many bytes of the answer's body had come, counted after they are unpacked.
  public var bytesReceived: Int64
  /// How many were allowed, if more came: see ``TransportLimits/responseBytes``.
  public var responseLimit: Int64?
  /// How many redirects had been followed.
  public var redirects: Int
  /// What the system says in its own words, for logs: "transfer closed with 12 bytes remaining to read".
  public var detail: String?
  /// The system's own error.
  public var underlying: (any Error)?

  /// Makes a failure.
  ///
  /// - Parameters:
  ///   - kind: What went wrong.
  ///   - bytesSent: How many bytes were sent.
  ///   - isUnsent: Whether it is known that nothing of the request has gone to the server.
  ///   - isUnprocessed: Whether the server has said that it did not look at the request.
  ///   - bytesReceived: How many bytes of the answer's body had come.
  ///   - responseLimit: How many were allowed, if more came.
  ///   - redirects: How many redirects had been followed.
  ///   - detail: What the system says in its own words.
  ///   - underlying: The system's own error.
  public init(
    _ kind: Kind,
    bytesSent: Int64 = 0,
    isUnsent: Bool? = nil,
    isUnprocessed: Bool = false,
    bytesReceived: Int64 = 0,
    responseLimit: Int64? = nil,
    redirects: Int = 0,
    detail: String? = nil,
    underlying: (any Error)? = nil
  ) {
    self.kind = kind
    self.bytesSent = bytesSent
    self.isUnsent = isUnsent
    self.isUnprocessed = isUnprocessed
    self.bytesReceived = bytesReceived
    self.responseLimit = responseLimit
    self.redirects = redirects
    self.detail = detail
    self.underlying = underlying
  }

  /// Whether the server cannot have seen any of the request, so that even one that is not idempotent may be sent again.
  ///
  /// What the transport knows (``isUnsent``) decides. If it cannot tell, the kind does: there was no connection, or none to
  /// the server behind a proxy, or it was refused for a certificate before the request could be sent. A broken connection
  /// then proves nothing, however few bytes were counted: they may all have arrived.
  public var provesNothingWasSent: Bool {
    guard bytesSent == 0, bytesReceived == 0, redirects == 0 else { return false }
    if let isUnsent { return isUnsent }
    switch kind {
    // What failed about the connection is not known, so neither is when.
    case .tls(.other): return false
    case .offline, .dns, .connect, .tls, .proxy, .timeout(.connect): return true
    case .timeout, .reset, .truncated, .protocol, .cancelled, .tooManyRedirects, .tooLarge, .body, .other: return false
    }
  }

  /// Whether the server cannot have acted on the request, so that even one that is not idempotent may be sent again:
  /// nothing of it was sent, or the server has said that it did not look at it.
  public var provesNothingWasDone: Bool {
    provesNothingWasSent || (isUnprocessed && bytesReceived == 0 && redirects == 0)
  }

  /// Whether the same request may well succeed a little later.
  public var isTransient: Bool {
    switch kind {
    case .offline, .dns, .connect, .tls(.handshake), .timeout, .reset, .truncated, .protocol: true
    case .proxy(.unreachable), .proxy(.broken): true
    // What gateways answer when the server behind them is in trouble.
    case .proxy(.refused(let status)): [502, 503, 504].contains(status)
    case .tls, .proxy(.credentials), .cancelled, .tooManyRedirects, .tooLarge, .body, .other: false
    }
  }
}

extension TransportFailure {
  /// The server has answered 101 to a request without an Upgrade field: what comes is in another protocol now, for which
  /// nobody has asked (RFC 9110 §15.2.2).
  ///
  /// For transports: it is the one informational answer that is not left out.
  public static let unaskedUpgrade = TransportFailure(.protocol, detail: "the server changed protocols unasked")
}

extension TransportFailure: CustomStringConvertible {
  /// What happened, in words, with what the system says, and what to do if a limit was too low.
  public var description: String {
    let progress = bytesReceived > 0 ? ", after \(bytesReceived) bytes" : ""
    let detail = (detail ?? underlying.map { "\($0)" }).map { " (\($0))" } ?? ""
    let advice = responseLimit.map { "; if more than \($0) are to be expected, raise TransportLimits.responseBytes" }
    return "\(kind)\(progress)\(detail)\(advice ?? "")"
  }
}

extension TransportFailure: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.transport(kind)).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.transport(kind)).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.transport(kind)).recoverySuggestion }
}

extension TransportFailure.Kind: CustomStringConvertible {
  /// What went wrong, in words.
  public var description: String {
    switch self {
    case .offline: "no network"
    case .dns: "the host's name was not found"
    case .connect: "the host takes no connection"
    case .tls(let reason): "no secure connection: \(reason)"
    case .proxy(let reason): "the proxy \(reason)"
    case .timeout(.connect): "no connection in time"
    case .timeout(.idle): "no sign of life in time"
    case .timeout(.total): "no complete answer in time"
    case .reset: "the connection was broken off"
    case .truncated: "the answer's end is missing"
    case .protocol: "the answer is not HTTP"
    case .cancelled: "cancelled"
    case .tooManyRedirects: "too many redirects"
    case .tooLarge: "the answer is larger than allowed"
    case .body: "the request's body could not be read"
    case .other: "the network failed"
    }
  }
}

extension TransportFailure.TLSReason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .untrusted: "nobody who is trusted vouches for the certificate"
    case .expired: "the certificate has expired"
    case .notYetValid: "the certificate is not valid yet"
    case .wrongHost: "the certificate is for another host"
    case .revoked: "the certificate was revoked"
    case .notPinned: "the server's key is not a pinned one"
    case .clientCertificate: "the server does not accept the client's certificate"
    case .handshake: "the handshake failed"
    case .other: "reason unknown"
    }
  }
}

extension TransportFailure.ProxyReason: CustomStringConvertible {
  /// What the proxy did, in words that follow its name.
  public var description: String {
    switch self {
    case .unreachable: "cannot be reached"
    case .credentials: "wants other credentials"
    case .refused(let status): "refuses to connect to the host (status \(status))"
    case .broken: "broke off before it had connected to the host"
    }
  }
}
