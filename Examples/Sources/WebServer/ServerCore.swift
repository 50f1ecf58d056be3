import CMicroHTTPD
import Dispatch
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The server behind ``HTTPServer``: libmicrohttpd's callbacks, the exchanges under way, and the order of the shutdown.
final class ServerCore: Sendable {
  private enum Phase {
    case running
    case stopping
    case stopped
  }

  private struct State {
    var phase = Phase.running
    var daemon: ForeignPointer?
    /// Those whose request is complete and whose answer isn't.
    var exchanges: [ObjectIdentifier: Exchange] = [:]
    var connections: [ObjectIdentifier: ClientConnection] = [:]
    var waitingForIdle: CheckedContinuation<Void, Never>?
    var waitingForStop: [CheckedContinuation<Void, Never>] = []
  }

  let port: UInt16
  private let configuration: HTTPServer.Configuration
  private let policy: OriginPolicy
  private let handler: @Sendable (Request) async -> Response
  private let state = Locked(State())
  private let shutdownQueue = DispatchQueue(label: "WebServer.shutdown")

  init(
    configuration: HTTPServer.Configuration,
    handler: @escaping @Sendable (Request) async -> Response
  ) throws(HTTPServerError) {
    let socket = try ListeningSocket(address: configuration.address, port: configuration.port)
    self.port = socket.port
    self.configuration = configuration
    self.policy = OriginPolicy(
      port: socket.port,
      hosts: configuration.hosts,
      allowedOrigins: Set(configuration.allowedOrigins.map { $0.lowercased() })
    )
    self.handler = handler

    // Balanced when the daemon has stopped, after which it makes no more calls.
    let context = Unmanaged.passRetained(self)
    let daemon = shim_start_daemon(
      socket.descriptor,
      configuration.usableConnectionLimit,
      configuration.usableConnectionLimitPerAddress,
      configuration.timeoutInSeconds,
      context.toOpaque(),
      receiveTarget,
      receiveRequest,
      requestCompleted,
      connectionChanged
    )
    guard let daemon else {
      let reason = String(cString: strerror(errno))
      // Whether libmicrohttpd has closed the socket depends on where it failed. Keeping one descriptor too many is
      // better than closing one that may be somebody else's by now.
      context.release()
      throw .system(operation: "libmicrohttpd", reason: reason)
    }
    let started = ForeignPointer(pointer: daemon)
    state.withLock { $0.daemon = started }
    scheduleHeartbeat()
    scheduleLook(for: .head, within: configuration.headTimeout)
    scheduleLook(for: .body, within: configuration.bodyTimeout)
  }

  // MARK: Requests, on libmicrohttpd's thread

  /// Takes the next step of a request.
  ///
  /// libmicrohttpd calls this once for the head, once per part of the body, once at its end, and again whenever a
  /// suspended connection has been resumed.
  func proceed(
    _ exchange: Exchange,
    on connection: OpaquePointer,
    method: String,
    upload: UnsafeRawBufferPointer,
    consumeUpload: () -> Void
  ) -> MHD_Result {
    if exchange.beginBody() {
      client(of: connection)?.headIsComplete()
      let headers = headers(of: connection)
      guard ServerCore.isEndClear(in: headers) else { return queue(endIsUnclear, on: connection, exchange) }
      let declared = headers["Content-Length"].flatMap { UInt64($0) } ?? 0
      guard declared <= UInt64(configuration.bodyLimit) else { return queue(bodyTooLarge, on: connection, exchange) }
      return .YES
    }
    if !upload.isEmpty {
      defer { consumeUpload() }
      // In the middle of a body there is no answering any more (libmicrohttpd takes none), only hanging up.
      return exchange.receive(upload, limit: configuration.bodyLimit) ? .YES : .NO
    }
    switch exchange.nextStep() {
    case .handle(let body):
      client(of: connection)?.requestIsComplete()
      return handle(exchange, on: connection, method: method, body: body)
    case .answer(var response):
      if method == HTTPMethod.head.rawValue, case .events = response.content {
        // libmicrohttpd would end the body that isn't there with an empty chunk, in the middle of the next answer.
        response.discard()
        response.content = .data(Data())
      }
      return queue(response, on: connection, exchange)
    case .wait:
      return .YES
    case .closeConnection:
      return .NO
    }
  }

  private func handle(
    _ exchange: Exchange,
    on connection: OpaquePointer,
    method: String,
    body: Data
  ) -> MHD_Result {
    let headers = headers(of: connection)
    let request: Request
    do throws(HTTPError) {
      guard let target = exchange.target else { throw .targetIsNotUTF8 }
      let decoded = try RequestTarget(target)
      if let refusal = policy.refusal(
        method: HTTPMethod(rawValue: method),
        authority: decoded.authority,
        headers: headers
      ) {
        throw refusal
      }
      request = Request(
        method: HTTPMethod(rawValue: method),
        target: target,
        decoded: decoded,
        headers: headers,
        body: body
      )
    } catch {
      return queue(.error(error), on: connection, exchange)
    }

    // From here on the shutdown waits for this exchange; once the shutdown has begun, nothing is suspended any more.
    guard begin(exchange) else {
      return queue(
        .error(503, "The server is shutting down", headers: ["Connection": "close"]),
        on: connection,
        exchange
      )
    }
    guard exchange.suspend(ForeignPointer(pointer: connection)) else { return .NO }
    exchange.attach(
      Task {
        let response = ServerCore.claimed(await handler(request)) ?? unsendable
        guard response.delay > .zero else { return answer(exchange, response) }
        configuration.timer.run(after: response.delay) { [weak self, weak exchange] in
          guard let self, let exchange else { return response.discard() }
          self.answer(exchange, response)
        }
      }
    )
    return .YES
  }

  /// Takes an answer's stream for this request alone; nil if another request has it.
  private static func claimed(_ response: Response) -> Response? {
    guard case .events(let stream) = response.content, !stream.claim() else { return response }
    return nil
  }

  private func answer(_ exchange: Exchange, _ response: Response) {
    exchange.answer(response)
    // A stream that is opened while the others are being closed has to be closed too.
    if state.withLock({ $0.phase != .running }) { exchange.closeStream() }
  }

  func ended(_ exchange: Exchange, on client: ClientConnection?) {
    exchange.end()
    client?.requestIsOver()
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.exchanges[ObjectIdentifier(exchange)] = nil
      guard state.exchanges.isEmpty else { return nil }
      defer { state.waitingForIdle = nil }
      return state.waitingForIdle
    }
    waiting?.resume()
  }

  private func begin(_ exchange: Exchange) -> Bool {
    state.withLock { state in
      guard state.phase == .running else { return false }
      state.exchanges[ObjectIdentifier(exchange)] = exchange
      return true
    }
  }

  private func headers(of connection: OpaquePointer) -> Headers {
    var headers: Headers = [:]
    withUnsafeMutablePointer(to: &headers) { headers in
      _ = MHD_get_connection_values_n(connection, .HEADER_KIND, collectHeader, headers)
    }
    return headers
  }

  /// Whether a head says in one way where its request ends (RFC 9112 §6.3).
  ///
  /// Of several lengths libmicrohttpd takes the first, chunks before any length, and a body in another coding it reads until
  /// the client hangs up. Who has passed the request on may see another end, and another request behind it.
  private static func isEndClear(in headers: Headers) -> Bool {
    let (lengths, codings) = (headers.values(of: "Content-Length"), headers.values(of: "Transfer-Encoding"))
    guard !codings.isEmpty else { return lengths.count <= 1 }
    return lengths.isEmpty && codings.map { $0.lowercased() } == ["chunked"]
  }

  private var endIsUnclear: Response {
    .error(
      400,
      "The request must say where it ends by one Content-Length, or else by Transfer-Encoding: chunked",
      headers: ["Connection": "close"]
    )
  }

  private var bodyTooLarge: Response {
    .error(413, "The body is larger than \(configuration.bodyLimit) bytes")
  }

  private var unsendable: Response {
    .error(500, "The server's answer couldn't be sent")
  }

  // MARK: Answers

  private func queue(_ response: Response, on connection: OpaquePointer, _ exchange: Exchange) -> MHD_Result {
    guard case .dropped = response.content else {
      guard let message = message(for: response, on: connection) else {
        response.discard()
        guard let apology = message(for: unsendable, on: connection) else {
          return .NO
        }
        return queue(apology, status: 500, on: connection)
      }
      return queue(message, status: response.status, on: connection)
    }
    return .NO
  }

  private func queue(_ message: OpaquePointer, status: Int, on connection: OpaquePointer) -> MHD_Result {
    defer { MHD_destroy_response(message) }
    return MHD_queue_response(connection, UInt32(status), message)
  }

  /// Makes libmicrohttpd's form of a response, or returns nil if it refuses it, because of a line break in a header,
  /// say.
  private func message(for response: Response, on connection: OpaquePointer) -> OpaquePointer? {
    guard (200...599).contains(response.status), let message = body(for: response, on: connection) else { return nil }
    var fields = response.headers
    for field in configuration.defaultHeaders.fields where fields[field.name] == nil {
      fields.add(field.name, field.value)
    }
    let sharing = policy.sharingHeaders(for: headers(of: connection), allowedMethods: response.headers["Allow"])
    for field in sharing.fields { fields.add(field.name, field.value) }
    for field in fields.fields where MHD_add_response_header(message, field.name, field.value) == .NO {
      MHD_destroy_response(message)
      return nil
    }
    return message
  }

  private func body(for response: Response, on connection: OpaquePointer) -> OpaquePointer? {
    switch response.content {
    case .data(let data):
      return data.withUnsafeBytes { bytes in
        // With MUST_COPY libmicrohttpd only reads from the bytes, and only during the call.
        MHD_create_response_from_buffer(
          bytes.count,
          UnsafeMutableRawPointer(mutating: bytes.baseAddress),
          .RESPMEM_MUST_COPY
        )
      }
    case .truncated(let data, let declaredLength):
      let reader = Unmanaged.passRetained(TruncatedBody(data))
      return MHD_create_response_from_callback(
        UInt64(declaredLength),
        blockSize,
        readTruncatedBody,
        reader.toOpaque(),
        releaseTruncatedBody
      )
    case .events(let stream):
      let connection = ForeignPointer(pointer: connection)
      stream.connect(
        EventStream.Connection(
          suspend: { MHD_suspend_connection(connection.pointer) },
          resume: { MHD_resume_connection(connection.pointer) }
        )
      )
      let reader = Unmanaged.passRetained(stream)
      return MHD_create_response_from_callback(
        shim_size_unknown,
        blockSize,
        readEvents,
        reader.toOpaque(),
        releaseEvents
      )
    case .dropped:
      return nil
    }
  }

  // MARK: Heartbeat

  private func scheduleHeartbeat() {
    guard let interval = configuration.heartbeat else { return }
    configuration.timer.run(after: interval) { [weak self] in
      guard let self, self.beat() else { return }
      self.scheduleHeartbeat()
    }
  }

  private func beat() -> Bool {
    let exchanges = state.withLock { $0.phase == .stopped ? nil : Array($0.exchanges.values) }
    exchanges?.forEach { $0.beat() }
    return exchanges != nil
  }

  // MARK: Connections

  func began(_ connection: ClientConnection) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
  }

  func ended(_ connection: ClientConnection) {
    connection.end()
    state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  /// Looks at all connections now and then, rather than at each with a timer of its own, which would cost every request one.
  private func scheduleLook(for part: ClientConnection.Part, within timeout: Duration?) {
    guard let timeout else { return }
    let looks = 2
    configuration.timer.run(after: timeout / looks) { [weak self] in
      guard let self else { return }
      let connections = self.state.withLock { $0.phase == .stopped ? nil : Array($0.connections.values) }
      guard let connections else { return }
      for connection in connections { connection.look(for: part, allowing: looks) }
      self.scheduleLook(for: part, within: timeout)
    }
  }

  // MARK: Shutdown

  /// Stops in the only order that neither aborts the process nor cuts answers short: no new connections, end the
  /// streams, wait for what is under way, give up what isn't ready in time, stop.
  func stop(within deadline: Duration) async {
    let isFirst = state.withLock { state in
      guard state.phase == .running else { return false }
      state.phase = .stopping
      return true
    }
    guard isFirst else { return await waitForStop() }

    let listeningSocket = await onShutdownQueue { self.quiesce() }
    for exchange in currentExchanges { exchange.closeStream() }
    await waitForIdle(within: deadline)
    for exchange in currentExchanges { exchange.abandon() }
    await onShutdownQueue { self.stopDaemon(listeningSocket) }
  }

  /// Stops at once; what is under way is cut off.
  ///
  /// For a server that was let go of without being stopped.
  func stopNow() {
    let isFirst = state.withLock { state in
      guard state.phase == .running else { return false }
      state.phase = .stopping
      return true
    }
    guard isFirst else { return }
    shutdownQueue.async {
      let listeningSocket = self.quiesce()
      for exchange in self.currentExchanges { exchange.abandon() }
      self.stopDaemon(listeningSocket)
    }
  }

  private func quiesce() -> Int32 {
    let socket = MHD_quiesce_daemon(daemon?.pointer)
    // It can't be closed before the daemon has stopped. Still listening, it would let clients connect and wait for
    // nothing.
    shutdown(socket, Int32(SHUT_RDWR))
    return socket
  }

  private var daemon: ForeignPointer? {
    state.withLock { $0.daemon }
  }

  private func stopDaemon(_ listeningSocket: Int32) {
    // Not under the lock: the daemon's thread takes it to report the last requests as ended, and is waited for.
    MHD_stop_daemon(daemon?.pointer)
    // Also -1 if the daemon couldn't be quiesced; then it has closed the socket itself.
    if listeningSocket >= 0 { close(listeningSocket) }
    let waiting = state.withLock { state in
      state.phase = .stopped
      state.daemon = nil
      defer { state.waitingForStop = [] }
      return state.waitingForStop
    }
    waiting.forEach { $0.resume() }
    Unmanaged.passUnretained(self).release()
  }

  private var currentExchanges: [Exchange] {
    state.withLock { Array($0.exchanges.values) }
  }

  private func waitForIdle(within deadline: Duration) async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        guard !state.exchanges.isEmpty else { return true }
        state.waitingForIdle = continuation
        return false
      }
      guard !isIdle else { return continuation.resume() }
      configuration.timer.run(after: deadline) { [weak self] in
        self?.state.withLock { state in
          defer { state.waitingForIdle = nil }
          return state.waitingForIdle
        }?.resume()
      }
    }
  }

  private func waitForStop() async {
    await withCheckedContinuation { continuation in
      let isStopped = state.withLock { state in
        if state.phase != .stopped { state.waitingForStop.append(continuation) }
        return state.phase == .stopped
      }
      if isStopped { continuation.resume() }
    }
  }

  private func onShutdownQueue<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      shutdownQueue.async { continuation.resume(returning: work()) }
    }
  }
}
