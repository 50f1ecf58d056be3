#if Curl
  import CCurl
  import Foundation

  /// One request in a ``CurlLoop``.
  ///
  /// Unchecked, because only the loop's thread uses what changes.
  final class CurlTransfer: ExchangeCarrier, @unchecked Sendable {
    enum End {
      case finished
      /// With its answer; what libcurl began then, as it does after a 417, was not sent.
      case answered
      case failed(TransportFailure)
    }

    let exchange: OngoingExchange
    let request: TransportRequest
    private let loop: CurlLoop

    /// Whom it shares connections with; known once the loop has it.
    @exclusivity(unchecked) var origin: CurlOrigin?
    /// Whether it was stopped before the loop had it.
    @exclusivity(unchecked) var isStopped = false
    @exclusivity(unchecked) private(set) var handle: CurlHandle?
    @exclusivity(unchecked) private var head = CurlHead()
    /// That of the handle, as long as it has one.
    @exclusivity(unchecked) private var lastHead = CurlHeadTable()
    /// The loop's turn in which the last line of the head has come.
    @exclusivity(unchecked) private var turnOfLine = 0
    @exclusivity(unchecked) private var upload: CurlUpload?
    @exclusivity(unchecked) private var isReceivingPaused = false
    @exclusivity(unchecked) private(set) var isConnected = false
    @exclusivity(unchecked) private var isRepetitionRefused = false
    @exclusivity(unchecked) private var isRepeatedAfterAnswer = false
    @exclusivity(unchecked) private var stream = CurlStream()

    init(
      _ request: TransportRequest,
      _ exchange: OngoingExchange,
      _ loop: CurlLoop
    ) {
      self.request = request
      self.exchange = exchange
      self.loop = loop
    }

    private var options: CurlOptions { loop.options }
    private var route: CurlRoute { options.proxy.route(to: request.address) }
    private var isSecure: Bool { origin?.server.isSecure ?? false }

    // MARK: From any thread

    func stop() {
      loop.post(.stop(self))
    }

    /// The loop asks before it hands on more.
    func pause() {}

    func resume() {
      loop.post(.resume(self))
    }

    // MARK: On the loop's thread

    /// Tells a handle what to do.
    func prepare(_ handle: CurlHandle) throws(TransportFailure) {
      handle.errorText.pointee = 0
      let address = request.address
      if let originCount = address.originCount, try takeUsual(handle) {
        handle.setTarget(address.text, from: originCount)
        handle.setFields(request.headers, and: CurlTransfer.codings)
      } else {
        try prepareAnew(handle)
        handle.set(CURLOPT_URL, address.text)
        // Waiting for a 100 costs a round trip, or a second with servers that do not know it.
        let isUnexpecting = upload != nil && !request.headers.contains(name: "Expect")
        handle.setFields(request.headers, and: isUnexpecting ? ["Expect:"] : [])
      }
      self.handle = handle
      swap(&lastHead, &handle.lastHead)
      prepareContext(handle.easy)
    }

    /// Has a handle ask the server of this request, if it does not so already; `false` if that is not all there is to say.
    ///
    /// A handle is set up once for requests that nothing but the path and the fields tells from others to the same server.
    private func takeUsual(_ handle: CurlHandle) throws(TransportFailure) -> Bool {
      guard let origin, request.method == .get, case .none = request.body,
        options.pins.isEmpty, !options.proxy.isUsed,
        !request.headers.contains(name: "Accept-Encoding"), !request.headers.contains(name: "Priority")
      else { return false }
      guard handle.server != origin.server else { return true }
      try prepareAnew(handle)
      guard let spelling = request.address.origin, handle.setOrigin(spelling) else { return false }
      handle.server = origin.server
      return true
    }

    /// The field that asks for every coding that libcurl can undo: it would put together the same for each request.
    private static let codings: [String] = {
      let features = rebound_curl_features()
      let known = [
        (CURL_VERSION_LIBZ, "deflate, gzip"), (CURL_VERSION_BROTLI, "br"), (CURL_VERSION_ZSTD, "zstd"),
      ]
      let codings = known.filter { features & $0.0 != 0 }.map(\.1)
      return codings.isEmpty ? [] : ["Accept-Encoding: " + codings.joined(separator: ", ")]
    }()

    private func prepareAnew(_ handle: CurlHandle) throws(TransportFailure) {
      let easy = handle.easy
      if handle.server != nil { handle.reset() }
      try handle.adopt(options, for: request.url, by: route)
      try prepareBody(handle)
      _ = rebound_curl_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(handle).toOpaque())
      _ = rebound_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, handle.errorText)
      _ = rebound_curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
      _ = rebound_curl_set_number(easy, CURLOPT_PATH_AS_IS, 1)
      handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
      _ = rebound_curl_set_number(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      // Ours are the only limits; zero would mean five minutes.
      _ = rebound_curl_set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
      if let priority = request.priority {
        _ = rebound_curl_set_number(easy, CURLOPT_STREAM_WEIGHT, priority.streamWeight)
      }
      // Every coding that libcurl can undo; a caller who names one wants it as it comes.
      if !request.headers.contains(name: "Accept-Encoding") { handle.set(CURLOPT_ACCEPT_ENCODING, "") }
      prepareCallbacks(easy)
    }

    private func prepareBody(_ handle: CurlHandle) throws(TransportFailure) {
      let easy = handle.easy
      if request.method == .head {
        _ = rebound_curl_set_number(easy, CURLOPT_NOBODY, 1)
        return
      }
      handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      // A method that usually has a body says so when it has none.
      if case .none = request.body, ![.post, .put, .patch].contains(request.method) { return }
      let body = request.body.measured
      do {
        upload = try CurlUpload(body) { [weak self] in
          if let self { self.loop.post(.resume(self)) }
        }
      } catch {
        throw TransportFailure(.body, underlying: error)
      }
      _ = rebound_curl_set_number(easy, CURLOPT_UPLOAD, 1)
      _ = rebound_curl_set_large(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.length ?? -1))
    }

    /// Says whom libcurl calls back.
    private func prepareContext(_ easy: UnsafeMutableRawPointer) {
      let this = Unmanaged.passUnretained(self).toOpaque()
      _ = rebound_curl_set_pointer(easy, CURLOPT_HEADERDATA, this)
      _ = rebound_curl_set_pointer(easy, CURLOPT_WRITEDATA, this)
      _ = rebound_curl_set_pointer(easy, CURLOPT_PREREQDATA, this)
      if isSecure { _ = rebound_curl_set_pointer(easy, CURLOPT_DEBUGDATA, this) }
      guard upload != nil else { return }
      _ = rebound_curl_set_pointer(easy, CURLOPT_READDATA, this)
      _ = rebound_curl_set_pointer(easy, CURLOPT_SEEKDATA, this)
    }

    private func prepareCallbacks(_ easy: UnsafeMutableRawPointer) {
      _ = rebound_curl_set_bytes(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
        CurlTransfer.at(context) { $0.receiveField(bytes, size * count) } ?? 0
      }
      _ = rebound_curl_set_bytes(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
        CurlTransfer.at(context) { $0.receiveBody(bytes, size * count) } ?? 0
      }
      _ = rebound_curl_set_before_request(easy) { context, remote, local, remotePort, localPort in
        CurlTransfer.at(context) { $0.beforeRequest(over: .init(remote, remotePort, local, localPort)) }
          ?? CURL_PREREQFUNC_ABORT
      }
      // Without TLS there is no HTTP/2 here.
      if isSecure { prepareLog(easy) }
      guard upload != nil else { return }
      _ = rebound_curl_set_bytes(easy, CURLOPT_READFUNCTION) { bytes, size, count, context in
        CurlTransfer.at(context) { $0.sendBody(bytes, size * count) } ?? Int(CURL_READFUNC_ABORT)
      }
      _ = rebound_curl_set_seek(easy) { context, offset, _ in
        CurlTransfer.at(context) { $0.rewind(to: Int64(offset)) } ?? CURL_SEEKFUNC_FAIL
      }
    }

    /// Has libcurl tell what it says nowhere else: whether a server has refused to look at a stream of HTTP/2.
    private func prepareLog(_ easy: UnsafeMutableRawPointer) {
      _ = rebound_curl_set_log(easy) { _, type, text, count, context in
        if type == CURLINFO_TEXT, let text, let note = CurlNote(UnsafeRawBufferPointer(start: text, count: count)) {
          CurlTransfer.at(context) { $0.take(note) }
        }
        return 0
      }
      _ = rebound_curl_set_number(easy, CURLOPT_VERBOSE, 1)
    }

    /// Calls the transfer that a callback was given.
    @discardableResult
    private static func at<Result>(
      _ context: UnsafeMutableRawPointer?,
      _ body: (CurlTransfer) -> Result
    ) -> Result? {
      // The loop holds it as long as libcurl may call back.
      context.map { Unmanaged<CurlTransfer>.fromOpaque($0)._withUnsafeGuaranteedRef(body) }
    }

    private func take(_ note: CurlNote) {
      guard let connection = stream.connection else { return }
      switch note {
      case .goAway(let last): loop.noteGoAway(connection, lastStream: last)
      case .stream: stream.take(note)
      case .refused:
        stream.take(note)
        // libcurl would connect anew first, and only then learn that this is not to be sent again.
        guard !request.isIdempotent else { return }
        exchange.abort(TransportFailure(.reset, isUnprocessed: true, detail: "the server refused it: REFUSED_STREAM"))
      }
    }

    /// The server will not look at streams of a connection behind that one.
    func noteGoAway(_ connection: CurlConnection, lastStream: Int) {
      if stream.connection == connection { stream.take(.goAway(lastStream: lastStream)) }
    }

    private func beforeRequest(over connection: @autoclosure () -> CurlConnection) -> Int32 {
      if isConnected {
        guard !repeatsAnswered() else { return CURL_PREREQFUNC_ABORT }
        guard request.isIdempotent else {
          // libcurl has sent it once, over a connection that was kept open and then broke. The server may have acted.
          isRepetitionRefused = true
          return CURL_PREREQFUNC_ABORT
        }
        // It counts what it sends again, gives up at five, and goes on from there with the handle's next request.
        handle?.server = nil
      }
      if isSecure { stream = CurlStream(connection()) }
      if !isConnected { loop.noteConnected(self) }
      isConnected = true
      exchange.connected()
      return CURL_PREREQFUNC_OK
    }

    /// Whether libcurl would send once more what has its answer: it does so if a server refuses an expectation (417), and that
    /// is the caller's to decide.
    private func repeatsAnswered() -> Bool {
      if head.isTold { isRepeatedAfterAnswer = true }
      return head.isTold
    }

    private func rewind(to offset: Int64) -> Int32 {
      guard !repeatsAnswered() else { return CURL_SEEKFUNC_FAIL }
      guard offset == 0, request.isIdempotent, request.body.isReplayable, upload?.rewind() == true else {
        isRepetitionRefused = true
        return CURL_SEEKFUNC_FAIL
      }
      return CURL_SEEKFUNC_OK
    }

    private func receiveField(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      guard let bytes else { return 0 }
      // All lines of one turn are one sign of life.
      if turnOfLine != loop.turn {
        turnOfLine = loop.turn
        exchange.stirred()
        loop.noteMove()
      }
      let line = UnsafeRawBufferPointer(start: bytes, count: count)
      let told = head.take(line, from: request.address, remembering: &lastHead)
      if head.changesProtocol { exchange.abort(.unaskedUpgrade) }
      guard var head = told else { return count }
      if request.wantsTimings { head.timings = handle?.timings(ofSecure: isSecure) }
      if head.status == 407, route.isProxied, !isSecure {
        // Nobody but the proxy says so (RFC 9110 §15.5.8).
        let detail = "proxy \(route) answers 407"
        exchange.abort(TransportFailure(.proxy(.credentials), isUnsent: true, detail: detail))
      } else {
        exchange.receive(head)
      }
      return count
    }

    private func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      guard let bytes, count > 0 else { return 0 }
      if exchange.isPaused {
        isReceivingPaused = true
        return Int(CURL_WRITEFUNC_PAUSE)
      }
      loop.noteMove()
      // Fewer than came lets libcurl give up.
      return exchange.receive(Data(bytes: bytes, count: count)) ? count : 0
    }

    private func sendBody(_ buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      guard let upload else { return Int(CURL_READFUNC_ABORT) }
      let result = upload.read(into: buffer, count)
      // libcurl's words for a pause and for an end are larger.
      if result > 0, result <= count { loop.noteMove() }
      exchange.sent(upload.givenCount)
      return result
    }

    /// Goes on with whatever need not wait any longer.
    func unpause() {
      guard let handle else { return }
      let waitsForBody = upload?.isWaiting ?? false
      if !exchange.isPaused { isReceivingPaused = false }
      let receiving = isReceivingPaused ? CURLPAUSE_RECV : 0
      curl_easy_pause(handle.easy, receiving | (waitsForBody ? CURLPAUSE_SEND : 0))
    }

    /// Has libcurl look once more whether the stream has ended.
    ///
    /// When the server's half of a stream of HTTP/2 ends before ours, libcurl 7.88 sees the end while it sends, and not for an
    /// end of the answer: it waits for a socket that stays silent. Only a pause that ends makes it read again.
    func lookForEnd() {
      guard let handle, let upload, head.isTold, isSecure, !isReceivingPaused, !upload.isWaiting else { return }
      curl_easy_pause(handle.easy, CURLPAUSE_RECV)
      curl_easy_pause(handle.easy, CURLPAUSE_CONT)
    }

    /// What came of it.
    func end(_ result: CURLcode) -> End {
      if result == CURLE_OK { return .finished }
      if isRepeatedAfterAnswer { return .answered }
      let own = handle.map { String(cString: $0.errorText) } ?? ""
      let text = route.redacted(own.isEmpty ? String(cString: curl_easy_strerror(result)) : own)
      let error = CurlError(code: Int(result.rawValue), text: text)
      if isRepetitionRefused { return .failed(failure(.reset, text, error)) }
      if let error = upload?.failure { return .failed(TransportFailure(.body, detail: text, underlying: error)) }
      let kind = kind(of: error).refined(for: request.url, by: route.host, loop.reachability)
      return .failed(failure(kind, detail(of: kind, text), error))
    }

    private func failure(_ kind: TransportFailure.Kind, _ detail: String, _ error: CurlError) -> TransportFailure {
      TransportFailure(kind, isUnprocessed: stream.isUnprocessed, detail: detail, underlying: error)
    }

    private func kind(of error: CurlError) -> TransportFailure.Kind {
      guard route.isProxied, !isConnected else {
        return TransportVerdicts.kind(curlCode: error.code, text: error.text)
      }
      let status = handle?.number(CURLINFO_HTTP_CONNECTCODE) ?? 0
      return TransportVerdicts.kind(curlCode: error.code, text: error.text, tunnelStatus: status)
    }

    /// Says where, if the kind alone does not.
    private func detail(of kind: TransportFailure.Kind, _ text: String) -> String {
      switch kind {
      case .proxy: "proxy \(route): \(text)"
      case .tls(.notPinned): "\(request.url.host ?? ""): \(text)"
      default: text
      }
    }

    /// Lets go of what libcurl needed; it calls back no more.
    func release() {
      if let handle { swap(&lastHead, &handle.lastHead) }
      handle = nil
      upload?.stop()
      upload = nil
    }
  }

  /// What libcurl says went wrong.
  public struct CurlError: Error, Hashable, CustomStringConvertible {
    /// The CURLcode.
    public let code: Int
    /// In libcurl's words.
    public let text: String

    /// Code and words, and where to look the code up.
    public var description: String { "\(text) (curl \(code); see libcurl-errors)" }
  }

  extension CurlError: LocalizedError {
    /// What happened, for people: what a client's failure for it says.
    public var errorDescription: String? { NetworkFailure(.transport(.other)).errorDescription }
    /// Why, for people.
    public var failureReason: String? { NetworkFailure(.transport(.other)).failureReason }
    /// What to do next, for people.
    public var recoverySuggestion: String? { NetworkFailure(.transport(.other)).recoverySuggestion }
  }
#endif
