import Foundation

/// What the codes and words of the systems below mean: the one table from which every transport takes its verdicts.
///
/// A row says that a code, with certain words in its text if it names any, has a kind. The first row that fits counts.
/// Foundation on Linux stands on libcurl and gives most of its failures the code -1 (unknown), so that only libcurl's own
/// words tell them apart; they are English, and were read off libcurl 7.88 and OpenSSL 3.0 with a server that fails on
/// command. What no row knows is ``TransportFailure/Kind-swift.enum/other``.
///
/// That a connection was lost within the body is a matter of progress, not of codes: ``ExchangeMachine`` sees to it.
enum TransportVerdicts {
  /// One line of the table.
  struct Row: Sendable {
    let code: Int
    /// Part of the text; `nil` fits any.
    let words: String?
    let kind: TransportFailure.Kind

    fileprivate init(_ code: Int, _ words: String, _ kind: TransportFailure.Kind) {
      self.code = code
      self.words = words
      self.kind = kind
    }

    fileprivate init(_ code: Int, _ kind: TransportFailure.Kind) {
      self.code = code
      words = nil
      self.kind = kind
    }

    fileprivate func fits(_ code: Int, _ text: String) -> Bool {
      code == self.code && (words.map { text.contains($0) } ?? true)
    }
  }

  /// The kind of a failure of URLSession, by the code of a URLError and its text.
  static func kind(urlErrorCode code: Int, text: String) -> TransportFailure.Kind {
    kind(code, text, urlErrors)
  }

  /// The kind of a failure of URLSession.
  ///
  /// - Parameter error: Of the domain `NSURLErrorDomain`.
  static func kind(ofURLError error: NSError) -> TransportFailure.Kind {
    let kind = kind(urlErrorCode: error.code, text: error.localizedDescription)
    // Secure Transport's number for a name that does not match, which Apple's URLSession keeps below its own.
    let isOtherHost = kind == .tls(.untrusted) && error.userInfo["_kCFStreamErrorCodeKey"] as? Int == -9843
    return isOtherHost ? .tls(.wrongHost) : kind
  }

  /// The kind of a failure of libcurl, by its CURLcode and its text.
  static func kind(curlCode code: Int, text: String) -> TransportFailure.Kind {
    kind(code, text, curlCodes)
  }

  /// The kind of a failure of libcurl on the way through a proxy, before a request could be sent.
  ///
  /// - Parameters:
  ///   - code: The CURLcode.
  ///   - text: What libcurl says.
  ///   - tunnelStatus: What the proxy answered to CONNECT; zero if nothing.
  static func kind(curlCode code: Int, text: String, tunnelStatus: Int) -> TransportFailure.Kind {
    switch tunnelStatus {
    case 0: break
    case 200..<300: return kind(curlCode: code, text: text)
    case 407: return .proxy(.credentials)
    default: return .proxy(.refused(tunnelStatus))
    }
    switch kind(curlCode: code, text: text) {
    case .dns, .connect: return .proxy(.unreachable)
    case .reset, .truncated, .protocol: return .proxy(.broken)
    case let other: return other
    }
  }

  private static func kind(_ code: Int, _ text: String, _ rows: [Row]) -> TransportFailure.Kind {
    rows.first { $0.fits(code, text) }?.kind ?? .other
  }

  /// NSURLErrorDomain; the same on Apple's platforms and on Linux, except for the rows that name words.
  static let urlErrors: [Row] =
    [
      Row(-999, .cancelled),
      Row(-1001, .timeout(.idle)),
      // Found out later than the connection was lost, of which the words still tell.
      Row(-1002, "Send failure", .reset),
      Row(-1002, "Recv failure", .reset),
      Row(-1002, "HTTP", .protocol),  // unsupportedURL, where libcurl finds a version of HTTP that it does not know
      Row(-1003, .dns),
      Row(-1004, .connect),
      Row(-1005, .reset),
      Row(-1006, .dns),
      Row(-1007, .tooManyRedirects),
      Row(-1008, .reset),  // resourceUnavailable: it may be there a little later, and nobody knows what was sent
      Row(-1009, .offline),
      Row(-1010, .protocol),
      Row(-1011, "Empty reply", .reset),
      Row(-1011, .protocol),
      Row(-1014, .reset),
      Row(-1015, .protocol),
      Row(-1016, .protocol),
      Row(-1017, .protocol),
      Row(-1018, .offline),
      Row(-1019, .offline),
      Row(-1020, .offline),
      Row(-1021, .body),  // requestBodyStreamExhausted: it had to be sent again, and could be read once
      Row(-1100, .body),
      Row(-1101, .body),
      Row(-1102, .body),
      Row(-1103, .tooLarge),
      Row(-1200, .tls(.handshake)),
      Row(-1201, .tls(.expired)),
      Row(-1202, .tls(.untrusted)),
      Row(-1203, .tls(.untrusted)),
      Row(-1204, .tls(.notYetValid)),
      Row(-1205, .tls(.clientCertificate)),
      Row(-1206, .tls(.clientCertificate)),
    ]
    + certificateRows(code: -1) + protocolRows(code: -1)
    + [
      Row(-1, "transfer closed", .truncated),
      Row(-1, "Send failure", .reset),
      Row(-1, "Couldn't connect to server", .connect),
      Row(-1, "Failed to connect", .connect),
      Row(-1, "pinned", .tls(.notPinned)),
      // Behind the handshake the server may have read the request, whatever it then sends: only words that come from
      // the handshake alone count as one. A reset has the same words in both places.
      Row(-1, "SSL_read", .reset),
      Row(-1, "SSL_write", .reset),
      Row(-1, "SSL_connect: Connection reset", .reset),
      Row(-1, "SSL_connect", .tls(.handshake)),
      Row(-1, "OpenSSL/", .tls(.handshake)),
      Row(-1, "TLS connect error", .tls(.handshake)),
      Row(-1, "gnutls_handshake", .tls(.handshake)),
      Row(-1, "SSL", .reset),
      Row(-1, "TLS", .reset),
      Row(-1, "Connection reset", .reset),
      Row(-1, "Connection died", .reset),
      Row(-1, "HTTP/2 stream", .reset),
      Row(-1, "HTTP/2 framing", .reset),
      Row(-1, "receiving data from the peer", .reset),
      Row(-1, "sending data to the peer", .reset),
      Row(-1, "HTTP2 framing layer", .reset),  // a GOAWAY, for one
      Row(-1, "nghttp2", .reset),  // a flood of frames, for one
    ]

  /// CURLcode, from libcurl's curl.h.
  static let curlCodes: [Row] =
    [
      Row(1, .protocol),  // UNSUPPORTED_PROTOCOL: the scheme is known to be right, so it is what the server speaks
      Row(5, .proxy(.unreachable)),
      Row(6, .dns),
      Row(7, .connect),
      Row(8, .protocol),
      Row(16, .reset),
      Row(18, .truncated),
      // The connection was lost before, of which the words still tell.
      Row(23, "Send failure", .reset),
      Row(23, "Recv failure", .reset),
      Row(23, .protocol),  // bytes behind the end of a coding; we take all that comes
      Row(26, .body),
      Row(27, "Send failure", .reset),
      Row(27, "Recv failure", .reset),
      Row(27, "Out of memory", .protocol),  // a field longer than libcurl takes
      Row(28, .timeout(.idle)),
    ]
    // A reset within the handshake, which Foundation does not tell from one behind it.
    + certificateRows(code: 35) + [Row(35, "Connection reset", .reset), Row(35, .tls(.handshake))]
    + [
      Row(42, .cancelled),
      Row(43, "Send failure", .reset),
      Row(43, "Recv failure", .reset),
      Row(43, "chunked-encoded", .protocol),  // a trailer that is no field
      Row(47, .tooManyRedirects),
      Row(52, .reset),
      Row(53, .tls(.other)),
      Row(54, .tls(.other)),
      Row(55, .reset),
    ]
    + certificateRows(code: 56) + protocolRows(code: 56) + [Row(56, .reset)]
    + [
      Row(58, .tls(.clientCertificate)),
      Row(59, .tls(.other)),
    ]
    + certificateRows(code: 60) + [Row(60, .tls(.untrusted))]
    + [
      Row(61, .protocol),
      Row(63, .tooLarge),
      Row(65, .body),
      Row(66, .tls(.other)),
      Row(77, .tls(.other)),
      Row(80, .tls(.other)),
      Row(83, .tls(.untrusted)),
      Row(90, .tls(.notPinned)),
      Row(91, .tls(.revoked)),
      Row(92, .reset),
      Row(95, .protocol),
      Row(97, .proxy(.broken)),
      Row(98, .tls(.clientCertificate)),
      Row(100, .protocol),
    ]

  /// What OpenSSL says about certificates.
  private static func certificateRows(code: Int) -> [Row] {
    [
      Row(code, "certificate has expired", .tls(.expired)),
      Row(code, "certificate is not yet valid", .tls(.notYetValid)),
      Row(code, "certificate revoked", .tls(.revoked)),
      Row(code, "subject name", .tls(.wrongHost)),
      Row(code, "certificate required", .tls(.clientCertificate)),
      Row(code, "alert bad certificate", .tls(.clientCertificate)),
      Row(code, "alert unknown ca", .tls(.clientCertificate)),
      Row(code, "alert certificate unknown", .tls(.clientCertificate)),
      Row(code, "SSL certificate problem", .tls(.untrusted)),
    ]
  }

  /// What libcurl says about answers that are not HTTP.
  private static func protocolRows(code: Int) -> [Row] {
    [
      Row(code, "chunked-encoding", .protocol),
      Row(code, "chunked-encoded", .protocol),
      Row(code, "content unencoding", .protocol),
      Row(code, "Content-Length", .protocol),
      Row(code, "response headers", .protocol),
      Row(code, "Out of memory", .protocol),
      Row(code, "Header without colon", .protocol),
      Row(code, "Nul byte in header", .protocol),
      Row(code, "Failed writing header", .protocol),  // what Foundation, not libcurl, cannot read
      Row(code, "content encoding type", .protocol),
      Row(code, "Failed writing received data", .protocol),  // bytes behind the end of a coding
    ]
  }
}

extension TransportFailure.Kind {
  /// The same kind, or a better one that a transport's codes alone do not give away: that there is no network, where a name
  /// is not found or nobody takes the connection; that no connection without TLS can fail for TLS.
  ///
  /// - Parameters:
  ///   - url: What was asked for.
  ///   - proxyHost: Which proxy was asked for it.
  ///   - reachability: Knows whether the device has a network.
  public func refined(for url: URL, by proxyHost: String? = nil, _ reachability: any Reachability) -> Self {
    switch self {
    case .tls where url.scheme?.lowercased() == "http":
      // A reset without a number of its own looks like one within a handshake.
      return .reset
    case .dns, .connect:
      // What a device without a network gets to see as well; systems differ in what they call it.
      return !url.isLoopback && reachability.current == .offline ? .offline : self
    case .proxy(.unreachable):
      return !(proxyHost?.isLoopbackHost ?? false) && reachability.current == .offline ? .offline : self
    default: return self
    }
  }
}

extension URL {
  fileprivate var isLoopback: Bool { host?.isLoopbackHost ?? false }
}

extension String {
  fileprivate var isLoopbackHost: Bool {
    let host = lowercased()
    return host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "::1"
      || host == "[::1]"
  }
}
