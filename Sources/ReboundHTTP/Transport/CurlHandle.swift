#if Curl
  import CCurl
  import Foundation

  /// An easy handle, and the place where libcurl writes what went wrong; of the loop's thread.
  final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    let errorText: UnsafeMutablePointer<CChar>
    /// For whose usual requests it is set up; `nil` if it is set up for nothing.
    @exclusivity(unchecked) var server: Origin?
    /// What it carries, and its place among the handles that carry something.
    @exclusivity(unchecked) var transfer: CurlTransfer?
    @exclusivity(unchecked) var place = 0
    @exclusivity(unchecked) var lastHead = CurlHeadTable()
    @exclusivity(unchecked) private var fields = CurlFieldList()
    /// Where that server is, as libcurl has taken it apart.
    @exclusivity(unchecked) private var origin: OpaquePointer?

    /// `nil` if there is no memory.
    init?() {
      guard let easy = curl_easy_init() else { return nil }
      self.easy = easy
      errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
      errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// The handle of a message from libcurl; `nil` for one that carries nothing.
    static func of(_ easy: UnsafeMutableRawPointer) -> CurlHandle? {
      var pointer: UnsafeMutableRawPointer?
      guard rebound_curl_get_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK else { return nil }
      // Whoever carries something is held by the loop.
      return pointer.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    func reset() {
      server = nil
      curl_easy_reset(easy)
      curl_url_cleanup(origin)
      origin = nil
    }

    func free() {
      // Whom it calls back may be gone.
      if server != nil { reset() }
      curl_easy_cleanup(easy)
      curl_url_cleanup(origin)
      fields.free()
      errorText.deallocate()
    }

    /// Says whom to ask, so that libcurl does not take an address apart for each request; `false` if it does not understand this one.
    ///
    /// What for is said by ``setTarget(_:from:)``.
    func setOrigin(_ text: String) -> Bool {
      origin = curl_url()
      return curl_url_set(origin, CURLUPART_URL, text, 0) == CURLUE_OK
        && rebound_curl_set_pointer(easy, CURLOPT_CURLU, UnsafeMutableRawPointer(origin)) == CURLE_OK
    }

    /// Says what to ask for: what of an address is behind its origin.
    func setTarget(_ address: String, from originCount: Int) {
      _ = address.withCString { rebound_curl_set_text(easy, CURLOPT_REQUEST_TARGET, $0 + originCount) }
    }

    /// Says which fields to send; they are kept until the next are set.
    func setFields(_ headers: HTTPHeaders, and lines: [String]) {
      _ = rebound_curl_set_pointer(easy, CURLOPT_HTTPHEADER, fields.set(headers, and: lines))
    }

    /// Takes on what the transport is held to; fails if this libcurl cannot keep to it.
    func adopt(_ options: CurlOptions, for url: URL, by route: CurlRoute) throws(TransportFailure) {
      switch options.pins.finding(for: url) {
      case .free: break
      case .pinned(let pins):
        try set(CURLOPT_PINNEDPUBLICKEY, pins, orFail: .tls(.notPinned), "this libcurl cannot keep to pins")
      case .refused(let reason): throw TransportFailure(.tls(.notPinned), detail: reason)
      }
      try adopt(options.certificateAuthorities, options.clientCertificate)
      // Set in any case, so that libcurl looks into no variables of its own accord; one without proxies need not know.
      let isSet = set(CURLOPT_PROXY, route.text) == CURLE_OK && set(CURLOPT_NOPROXY, "") == CURLE_OK
      guard isSet || !route.isProxied else {
        throw TransportFailure(.proxy(.unreachable), detail: "this libcurl knows no proxies")
      }
      guard let credentials = route.credentials else { return }
      try set(CURLOPT_PROXYUSERNAME, credentials.user, orFail: .proxy(.credentials), "they cannot be set")
      try set(CURLOPT_PROXYPASSWORD, credentials.password, orFail: .proxy(.credentials), "they cannot be set")
    }

    private func adopt(
      _ authorities: CurlTransport.CertificateAuthorities,
      _ client: CurlTransport.ClientCertificate?
    ) throws(TransportFailure) {
      let files = "this libcurl takes no files of certificates"
      switch authorities.choice {
      case .system: break
      case .systemAnd(let path): try set(CURLOPT_CAINFO, path, orFail: .tls(.other), files)
      case .only(let path):
        try set(CURLOPT_CAINFO, path, orFail: .tls(.other), files)
        try set(CURLOPT_CAPATH, nil, orFail: .tls(.other), files)
      }
      guard let client else { return }
      try set(CURLOPT_SSLCERT, client.certificateFile, orFail: .tls(.clientCertificate), files)
      try set(CURLOPT_SSLKEY, client.keyFile, orFail: .tls(.clientCertificate), files)
      if let password = client.password {
        try set(CURLOPT_KEYPASSWD, password, orFail: .tls(.clientCertificate), files)
      }
    }

    /// Where the text is in memory: handed over as an argument it would be copied for each option.
    @discardableResult
    func set(_ option: CURLoption, _ text: String) -> CURLcode {
      text.withCString { rebound_curl_set_text(easy, option, $0) }
    }

    private func set(
      _ option: CURLoption,
      _ text: String?,
      orFail kind: TransportFailure.Kind,
      _ reason: String
    ) throws(TransportFailure) {
      guard rebound_curl_set_text(easy, option, text) == CURLE_OK else {
        throw TransportFailure(kind, detail: reason)
      }
    }

    func number(_ info: CURLINFO) -> Int {
      var value = 0
      return rebound_curl_get_number(easy, info, &value) == CURLE_OK ? value : 0
    }

    /// How far its transfer was when, once its answer has begun.
    func timings(ofSecure isSecure: Bool) -> TransportTimings {
      // Over one that was kept libcurl has some number for each all the same.
      let isConnected = number(CURLINFO_NUM_CONNECTS) > 0
      return TransportTimings(
        nameLookup: isConnected ? time(CURLINFO_NAMELOOKUP_TIME_T) : nil,
        connect: isConnected ? time(CURLINFO_CONNECT_TIME_T) : nil,
        tls: isConnected && isSecure ? time(CURLINFO_APPCONNECT_TIME_T) : nil,
        firstByte: time(CURLINFO_STARTTRANSFER_TIME_T)
      )
    }

    private func time(_ info: CURLINFO) -> Duration? {
      var microseconds: curl_off_t = 0
      guard rebound_curl_get_large(easy, info, &microseconds) == CURLE_OK else { return nil }
      return .microseconds(Int64(microseconds))
    }
  }
#endif
