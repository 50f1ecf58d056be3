import Foundation

extension HAR.Failure {
  /// - Parameters:
  ///   - failure: What went wrong; of the system's own error, only the words are kept.
  ///   - message: What was sent, since the system's words may repeat its secrets.
  ///   - redaction: What must not be seen.
  package init(_ failure: TransportFailure, of message: TransportRequest, _ redaction: Redaction) {
    self.init(
      kind: HAR.name(of: failure.kind),
      bytesSent: failure.bytesSent,
      bytesReceived: failure.bytesReceived,
      isUnsent: failure.isUnsent,
      isUnprocessed: failure.isUnprocessed ? true : nil,
      redirects: failure.redirects,
      detail: (failure.detail ?? failure.underlying.map { "\($0)" }).map { redaction.archived(detail: $0, of: message) }
    )
  }

  /// The failure again; of a kind that this version does not know, ``TransportFailure/Kind-swift.enum/other``.
  package var transportFailure: TransportFailure {
    TransportFailure(
      HAR.kind(named: kind) ?? .other,
      bytesSent: bytesSent ?? 0,
      isUnsent: isUnsent,
      isUnprocessed: isUnprocessed ?? false,
      bytesReceived: bytesReceived ?? 0,
      redirects: redirects ?? 0,
      detail: detail
    )
  }
}

extension HAR {
  static func name(of kind: TransportFailure.Kind) -> String {
    switch kind {
    case .offline: "offline"
    case .dns: "dns"
    case .connect: "connect"
    case .tls(.untrusted): "tls.untrusted"
    case .tls(.expired): "tls.expired"
    case .tls(.notYetValid): "tls.notYetValid"
    case .tls(.wrongHost): "tls.wrongHost"
    case .tls(.revoked): "tls.revoked"
    case .tls(.notPinned): "tls.notPinned"
    case .tls(.clientCertificate): "tls.clientCertificate"
    case .tls(.handshake): "tls.handshake"
    case .tls(.other): "tls.other"
    case .proxy(.unreachable): "proxy.unreachable"
    case .proxy(.credentials): "proxy.credentials"
    case .proxy(.refused(let status)): refusedByProxy + "\(status)"
    case .proxy(.broken): "proxy.broken"
    case .timeout(.connect): "timeout.connect"
    case .timeout(.idle): "timeout.idle"
    case .timeout(.total): "timeout.total"
    case .reset: "reset"
    case .truncated: "truncated"
    case .protocol: "protocol"
    case .cancelled: "cancelled"
    case .tooManyRedirects: "tooManyRedirects"
    case .tooLarge: "tooLarge"
    case .body: "body"
    case .other: "other"
    }
  }

  /// The kinds by the names that they have in a file.
  private static let kinds: [String: TransportFailure.Kind] = {
    let reasons: [TransportFailure.TLSReason] = [
      .untrusted, .expired, .notYetValid, .wrongHost, .revoked, .notPinned, .clientCertificate, .handshake, .other,
    ]
    let phases: [TransportFailure.TimeoutPhase] = [.connect, .idle, .total]
    let others: [TransportFailure.Kind] = [
      .offline, .dns, .connect, .reset, .truncated, .protocol, .cancelled, .tooManyRedirects, .tooLarge, .body, .other,
    ]
    let proxies: [TransportFailure.ProxyReason] = [.unreachable, .credentials, .broken]
    let all = others + reasons.map { .tls($0) } + proxies.map { .proxy($0) } + phases.map { .timeout($0) }
    return Dictionary(uniqueKeysWithValues: all.map { (name(of: $0), $0) })
  }()

  /// What the name begins with that ends with the status of a proxy.
  private static let refusedByProxy = "proxy.refused."

  package static func kind(named name: String) -> TransportFailure.Kind? {
    guard name.hasPrefix(refusedByProxy) else { return kinds[name] }
    return Int(name.dropFirst(refusedByProxy.count)).map { .proxy(.refused($0)) }
  }

  /// What Chrome's name of an error stands for; https://chromium.googlesource.com/chromium/src net_error_list.h.
  package static func kind(ofChromeError name: String) -> TransportFailure.Kind {
    let name = name.hasPrefix("net::") ? String(name.dropFirst(5)) : name
    switch name {
    case "ERR_INTERNET_DISCONNECTED", "ERR_NETWORK_CHANGED": return .offline
    case "ERR_NAME_NOT_RESOLVED", "ERR_NAME_RESOLUTION_FAILED": return .dns
    case "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_FAILED", "ERR_ADDRESS_UNREACHABLE": return .connect
    case "ERR_CONNECTION_TIMED_OUT": return .timeout(.connect)
    case "ERR_TIMED_OUT": return .timeout(.idle)
    case "ERR_CONNECTION_RESET", "ERR_CONNECTION_CLOSED", "ERR_CONNECTION_ABORTED", "ERR_EMPTY_RESPONSE": return .reset
    case "ERR_CONTENT_LENGTH_MISMATCH", "ERR_INCOMPLETE_CHUNKED_ENCODING": return .truncated
    case "ERR_CERT_AUTHORITY_INVALID": return .tls(.untrusted)
    case "ERR_CERT_DATE_INVALID": return .tls(.expired)
    case "ERR_CERT_COMMON_NAME_INVALID": return .tls(.wrongHost)
    case "ERR_CERT_REVOKED": return .tls(.revoked)
    case "ERR_SSL_PROTOCOL_ERROR": return .tls(.handshake)
    case "ERR_TOO_MANY_REDIRECTS": return .tooManyRedirects
    case "ERR_INVALID_HTTP_RESPONSE", "ERR_HTTP2_PROTOCOL_ERROR": return .protocol
    case "ERR_ABORTED": return .cancelled
    default: return name.hasPrefix("ERR_CERT_") ? .tls(.other) : .other
    }
  }
}

extension Redaction {
  /// What a system or a server says about a failure, without the secrets of the request.
  func archived(detail: String, of message: TransportRequest) -> String {
    let components = URLComponents(url: message.url, resolvingAgainstBaseURL: true)
    // As the address spells them, and as they are meant.
    let parameters = zip(components?.queryItems ?? [], components?.percentEncodedQueryItems ?? [])
      .filter { item, _ in
        item.value.map { hides(parameter: item.name, value: $0.utf8) } ?? isCredential(item.name.utf8, of: "")
      }
      .flatMap { [$0.value ?? $0.name, $1.value ?? $1.name] }
    let credentials = [
      components?.user, components?.percentEncodedUser, components?.password, components?.percentEncodedPassword,
    ]
    let secrets =
      parameters + credentials.compactMap { $0 } + message.headers.filter(hides).map(\.value)
    // The longest first, or what is left of one could still be read. Literally: with an accent behind it, the last letter
    // of a secret is another character, and the secret would stay.
    return secrets.filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }.reduce(detail) { text, secret in
      text.replacingOccurrences(of: secret, with: replacement, options: .literal)
    }
  }
}
