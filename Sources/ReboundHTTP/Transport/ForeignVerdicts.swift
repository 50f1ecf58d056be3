import Foundation

/// What the errors of other clients mean: URLSession, AsyncHTTPClient, and SwiftNIO beneath that.
///
/// It goes by the names of types and by what errors say of themselves, so that this module needs none of those packages.
/// The first row that fits counts; what no row knows is nobody's verdict.
enum ForeignVerdicts {
  /// What an error means.
  struct Verdict: Hashable, Sendable {
    let kind: TransportFailure.Kind
    /// Whether nothing was sent, where the kind alone would say more than is known.
    var isUnsent: Bool?
    /// What the error says, where its description would show the address with its secrets.
    var detail: String?
  }

  /// One line of the table.
  struct Row: Sendable {
    let type: String
    /// Part of what the error says; `nil` fits any.
    let words: String?
    let verdict: Verdict

    fileprivate init(_ type: String, _ words: String?, _ kind: TransportFailure.Kind, isUnsent: Bool? = nil) {
      self.type = type
      self.words = words
      verdict = Verdict(kind: kind, isUnsent: isUnsent)
    }

    fileprivate func fits(_ names: [Substring], _ text: String) -> Bool {
      names.contains { $0 == type } && (words.map { text.contains($0) } ?? true)
    }
  }

  /// The verdict on an error of another client; `nil` if it is none.
  static func verdict(on error: any Error) -> Verdict? {
    let systemError = error as NSError
    if systemError.domain == NSURLErrorDomain {
      let kind = TransportVerdicts.kind(ofURLError: systemError)
      return Verdict(kind: kind, detail: systemError.localizedDescription)
    }
    return verdict(on: error, ofType: String(reflecting: type(of: error)))
  }

  /// - Parameter type: The name of the error's type with its module, such as "NIOCore.IOError".
  static func verdict(on error: any Error, ofType type: String) -> Verdict? {
    verdict(
      onType: type,
      text: "\(error) \(caseName(of: error))",
      connectionErrors: Mirror(reflecting: error).descendant("connectionErrors") as? [Any],
      errorNumber: (Mirror(reflecting: error).descendant("errorCode") as? POSIXErrorCode)?.rawValue
    )
  }

  /// The name of a case with a payload, which an error that describes itself in a sentence does not say.
  private static func caseName(of error: any Error) -> String {
    let mirror = Mirror(reflecting: error)
    return mirror.displayStyle == .enum ? mirror.children.first?.label ?? "" : ""
  }

  /// - Parameters:
  ///   - type: The type of the error with its module, such as "NIOCore.IOError".
  ///   - text: What it says of itself.
  ///   - connectionErrors: What became of each address of a host, for an error that has them.
  ///   - errorNumber: That of the system, for an error that has it as a property.
  static func verdict(
    onType type: String,
    text: @autoclosure () -> String,
    connectionErrors: @autoclosure () -> [Any]? = nil,
    errorNumber: @autoclosure () -> Int32? = nil
  ) -> Verdict? {
    let names = type.split(separator: ".")
    guard let module = names.first, module == "AsyncHTTPClient" || module.hasPrefix("NIO") else { return nil }
    switch names.last {
    // No address was tried if the name has none.
    case "NIOConnectionError": return Verdict(kind: connectionErrors()?.isEmpty == true ? .dns : .connect)
    case "IOError": return self.errorNumber(in: text()).flatMap(verdict(onErrorNumber:))
    // Of Apple's Network framework.
    case "NWPOSIXError": return errorNumber().flatMap(verdict(onErrorNumber:))
    default:
      let text = text()
      return rows.first { $0.fits(names, text) }?.verdict
    }
  }

  /// SwiftNIO ends what it says of a failed function of the system's with "(errno: 111)".
  private static func errorNumber(in text: String) -> Int32? {
    guard let start = text.range(of: "(errno: ", options: .backwards) else { return nil }
    return Int32(text[start.upperBound...].prefix { $0.isNumber || $0 == "-" })
  }

  private static func verdict(onErrorNumber number: Int32) -> Verdict? {
    switch number {
    // The second is of a socket in the file system.
    case ECONNREFUSED, ENOENT: Verdict(kind: .connect)
    // A connection that stands may end like this, too.
    case ENETDOWN, ENETUNREACH, EHOSTUNREACH: Verdict(kind: .connect, isUnsent: false)
    case ETIMEDOUT: Verdict(kind: .timeout(.idle))
    case ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN, EBADF: Verdict(kind: .reset)
    default: nil
    }
  }

  /// By the name of the type, or of one that it stands in, and by its words.
  static let rows: [Row] =
    [
      Row("HTTPClientError", "connectTimeout", .timeout(.connect)),
      Row("HTTPClientError", "getConnectionFromPoolTimeout", .timeout(.connect)),
      Row("HTTPClientError", "tlsHandshakeTimeout", .timeout(.connect)),
      Row("HTTPClientError", "httpProxyHandshakeTimeout", .timeout(.connect)),
      Row("HTTPClientError", "socksHandshakeTimeout", .timeout(.connect)),
      Row("HTTPClientError", "readTimeout", .timeout(.idle)),
      Row("HTTPClientError", "writeTimeout", .timeout(.idle)),
      Row("HTTPClientError", "deadlineExceeded", .timeout(.total)),
      Row("HTTPClientError", "remoteConnectionClosed", .reset),
      Row("HTTPClientError", "uncleanShutdown", .reset),
      Row("HTTPClientError", "cancelled", .cancelled),
      Row("HTTPClientError", "requestStreamCancelled", .cancelled),
      Row("HTTPClientError", "proxyAuthenticationRequired", .proxy(.credentials)),
      Row("HTTPClientError", "invalidProxyResponse", .proxy(.broken)),
      Row("HTTPClientError", "serverOfferedUnsupportedApplicationProtocol", .tls(.handshake)),
      Row("HTTPClientError", "httpEndReceivedAfterHeadWith1xx", .protocol),
      Row("HTTPClientError", "redirectLimitReached", .tooManyRedirects),
      Row("HTTPClientError", "redirectCycleDetected", .tooManyRedirects),
      Row("HTTPClientError", "bodyLengthMismatch", .body),
      // Of Apple's Network framework.
      Row("NWDNSError", nil, .dns),
      // Also behind the handshake, where some of the request may have been sent (RFC 8446 §4.4.2.4).
      Row("NWTLSError", nil, .tls(.handshake), isUnsent: false),
      // Some versions of SwiftNIO name the case, some say it in a sentence.
      Row("HTTPParserError", "invalidEOFState", .reset),
      Row("HTTPParserError", "ended at an unexpected time", .reset),
      Row("HTTPParserError", nil, .protocol),
      Row("ByteToMessageDecoderError", nil, .protocol),
      Row("DecompressionError", "limit", .tooLarge),
      Row("DecompressionError", nil, .protocol),
      Row("ExtraDecompressionError", nil, .protocol),
      Row("NIOTooManyBytesError", nil, .tooLarge),
      Row("NIOHTTP2Errors", nil, .reset),
      Row("ChannelError", "connectTimeout", .timeout(.connect)),
      Row("ChannelError", "eof", .reset),
      Row("ChannelError", "ioOnClosedChannel", .reset),
      Row("ChannelError", "alreadyClosed", .reset),
      Row("ChannelError", "inputClosed", .reset),
      Row("ChannelError", "outputClosed", .reset),
      Row("ChannelError", "Connect timeout", .timeout(.connect)),
      Row("ChannelError", "End of file", .reset),
      Row("ChannelError", "I/O on closed channel", .reset),
      Row("ChannelError", "Already closed", .reset),
      Row("ChannelError", "Input closed", .reset),
      Row("ChannelError", "Output closed", .reset),
      Row("SocketAddressError", "unknown", .dns),
      Row("NIOSSLExtraError", "failedToValidateHostname", .tls(.wrongHost)),
      Row("NIOSSLExtraError", "serverHostnameImpossibleToMatch", .tls(.wrongHost)),
      Row("NIOSSLError", "CERTIFICATE_VERIFY_FAILED", .tls(.untrusted)),
      Row("NIOSSLError", "noCertificateToValidate", .tls(.untrusted)),
      Row("NIOSSLError", "unableToValidateCertificate", .tls(.untrusted)),
    ] + certificateRows("NIOSSLError")
    + [
      Row("NIOSSLError", "handshakeFailed", .tls(.handshake)),
      Row("NIOSSLError", "uncleanShutdown", .reset),
      Row("NIOSSLError", "shutdownFailed", .reset),
      Row("NIOSSLError", "readInInvalidTLSState", .reset),
      Row("NIOSSLError", "writeDuringTLSShutdown", .reset),
      Row("NIOSSLError", nil, .tls(.other)),
      // Behind the handshake, as above.
    ] + certificateRows("BoringSSLError", isUnsent: false) + [Row("BoringSSLError", nil, .reset)]

  /// What a server says that wants another certificate of the client.
  private static func certificateRows(_ type: String, isUnsent: Bool? = nil) -> [Row] {
    ["ALERT_BAD_CERTIFICATE", "ALERT_UNKNOWN_CA", "CERTIFICATE_REQUIRED", "ALERT_CERTIFICATE_UNKNOWN"].map {
      Row(type, $0, .tls(.clientCertificate), isUnsent: isUnsent)
    }
  }
}

extension TransportFailure {
  /// The verdict on what another client has thrown: URLSession, AsyncHTTPClient or SwiftNIO.
  ///
  ///     let isTransient = { (error: any Error) in TransportFailure(classifying: error)?.isTransient ?? false }
  ///
  /// A failure of this type stays what it is. ``isUnsent`` is `nil` or false: whether ``provesNothingWasSent``, the kind
  /// decides, and it does only where no connection was made.
  ///
  /// - Parameter error: What was thrown; kept as ``underlying``.
  /// - Returns: `nil` for an error that says nothing about the network, or is not known.
  public init?(classifying error: any Error) {
    if let failure = error as? TransportFailure {
      self = failure
      return
    }
    guard let verdict = ForeignVerdicts.verdict(on: error) else { return nil }
    self.init(verdict.kind, isUnsent: verdict.isUnsent, detail: verdict.detail, underlying: error)
  }
}
