#if os(Linux)
  import Foundation
  import Rebound
  import ReboundHTTP
  import Synchronization

  /// A transport over the system's own sockets: HTTP/1.1 without TLS, a thread and a connection for each request.
  ///
  /// It is the proof that a transport is one file, and that it needs no more than what is public. All that is not here is
  /// the driver's.
  public final class SocketTransport: Transport {
    private let deadlines: ExchangeDeadlines
    private let reachability: any Reachability

    /// Makes a transport.
    public init(time: TimeSource = .current, reachability: any Reachability = SystemReachability.shared) {
      deadlines = ExchangeDeadlines(time)
      self.reachability = reachability
    }

    /// Begins to send a request.
    public func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
      let exchange = OngoingExchange(request.limits, deadlines, telling: receiver)
      let carrier = SocketCarrier(request, exchange, reachability)
      exchange.begin(on: carrier)
      Thread.detachNewThread { carrier.run() }
      return exchange
    }
  }

  /// The thread and the socket of one request.
  ///
  /// Unchecked, because only the thread uses what changes, but for what is behind the lock.
  private final class SocketCarrier: ExchangeCarrier, @unchecked Sendable {
    private struct Wishes {
      var isStopped = false
      var isPaused = false
    }

    private let request: TransportRequest
    private let exchange: OngoingExchange
    private let reachability: any Reachability
    private let wishes = Mutex(Wishes())
    /// The two ends of a pipe, which has something to read when a wish has changed.
    private let bell: (reading: Int32, writing: Int32)

    private var socket: Int32 = -1
    private var unsent = Data()
    /// How many bytes the body has; `nil` means chunks.
    private var length: Int64?
    private var reader: (any BodyReader)?
    private var answer: AnswerParser
    /// Of the body: read from the reader so far, and how much of `unsent` is framing.
    private var bodyCount: Int64 = 0

    init(_ request: TransportRequest, _ exchange: OngoingExchange, _ reachability: any Reachability) {
      self.request = request
      self.exchange = exchange
      self.reachability = reachability
      answer = AnswerParser(isBodiless: request.method == .head)
      var ends: [Int32] = [-1, -1]
      // Without one, a wish waits for the network: nothing that is tested here could be proven then.
      _ = pipe(&ends)
      bell = (ends[0], ends[1])
    }

    deinit {
      if socket >= 0 { close(socket) }
      close(bell.reading)
      close(bell.writing)
    }

    func stop() { change { $0.isStopped = true } }
    func pause() { change { $0.isPaused = true } }
    func resume() { change { $0.isPaused = false } }

    private func change(_ change: (inout Wishes) -> Void) {
      wishes.withLock { change(&$0) }
      _ = write(bell.writing, [1], 1)
    }

    func run() {
      do throws(TransportFailure) {
        try open()
        try converse()
        exchange.finish()
      } catch {
        exchange.fail(error)
      }
    }

    // MARK: The connection

    private func open() throws(TransportFailure) {
      // Both of the same one: what is added to a file meanwhile would be another request to the server.
      let body = request.body.measured
      length = body.length
      do { reader = try body.open() } catch { throw TransportFailure(.body, underlying: error) }
      guard let host = request.url.host, request.url.scheme?.lowercased() == "http" else { throw failure(.connect) }
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var found: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, "\(request.url.port ?? 80)", &hints, &found) == 0, let first = found else {
        throw failure(.dns)
      }
      defer { freeaddrinfo(found) }
      for address in sequence(first: first, next: { $0.pointee.ai_next }) where try connects(to: address.pointee) {
        exchange.connected()
        return unsent = head
      }
      throw failure(.connect)
    }

    private func connects(to address: addrinfo) throws(TransportFailure) -> Bool {
      if socket >= 0 { close(socket) }
      let type = address.ai_socktype | Int32(SOCK_NONBLOCK.rawValue)
      socket = Foundation.socket(address.ai_family, type, address.ai_protocol)
      guard socket >= 0 else { return false }
      if connect(socket, address.ai_addr, address.ai_addrlen) == 0 { return true }
      guard errno == EINPROGRESS else { return false }
      while try wait(for: Int32(POLLOUT)) & Int32(POLLOUT) == 0 {}
      var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0
    }

    /// What has happened to the socket, or nothing if a wish has changed.
    private func wait(for events: Int32) throws(TransportFailure) -> Int32 {
      var conditions = [
        pollfd(fd: socket, events: Int16(events), revents: 0),
        pollfd(fd: bell.reading, events: Int16(POLLIN), revents: 0),
      ]
      while poll(&conditions, 2, -1) < 0 && errno == EINTR {}
      var rung = [UInt8](repeating: 0, count: 64)
      if conditions[1].revents != 0 { _ = read(bell.reading, &rung, rung.count) }
      if wishes.withLock({ $0.isStopped }) { throw TransportFailure(.cancelled) }
      return Int32(conditions[0].revents)
    }

    private func failure(_ kind: TransportFailure.Kind) -> TransportFailure {
      TransportFailure(
        kind.refined(for: request.url, reachability),
        detail: "socket: \(String(cString: strerror(errno)))"
      )
    }

    // MARK: Sending

    private var isChunked: Bool { length == nil }

    private var head: Data {
      let address = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
      let path = address?.percentEncodedPath ?? ""
      let query = address?.percentEncodedQuery.map { "?\($0)" } ?? ""
      var lines = ["\(request.method.rawValue) \(path.isEmpty ? "/" : path)\(query) HTTP/1.1"]
      lines.append("Host: \(request.url.host ?? "")\(request.url.port.map { ":\($0)" } ?? "")")
      lines.append("Connection: close")
      for field in request.headers where !HTTPHeaders.isFraming(field.name) {
        lines.append("\(field.name): \(field.value)")
      }
      if let length {
        if length > 0 || [.post, .put, .patch].contains(request.method) { lines.append("Content-Length: \(length)") }
      } else {
        lines.append("Transfer-Encoding: chunked")
      }
      return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Sends what the connection takes; returns whether anything is left.
    private func sendSome() throws(TransportFailure) -> Bool {
      if unsent.isEmpty, let reader {
        let piece: Data
        do { piece = try reader.read(upTo: 16_384) } catch { throw TransportFailure(.body, underlying: error) }
        bodyCount += Int64(piece.count)
        unsent = isChunked ? Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8) : piece
        if piece.isEmpty { self.reader = nil }
      }
      let count = unsent.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      // A server that has answered already need not read on: what it said is what counts, and is read next.
      guard count >= 0 || errno == EAGAIN else { return false }
      unsent = Data(unsent.dropFirst(max(0, count)))
      if unsent.isEmpty, bodyCount > 0 { exchange.sent(bodyCount) } else { exchange.stirred() }
      return !unsent.isEmpty || reader != nil
    }

    // MARK: Both at once

    private func converse() throws(TransportFailure) {
      var isSending = true
      while !answer.isComplete {
        let reading = wishes.withLock { $0.isPaused } ? 0 : Int32(POLLIN)
        let happened = try wait(for: reading | (isSending ? Int32(POLLOUT) : 0))
        if happened & Int32(POLLOUT) != 0, isSending { isSending = try sendSome() }
        if happened & Int32(POLLIN | POLLHUP | POLLERR) != 0, reading != 0 { try receiveSome() }
      }
    }

    private func receiveSome() throws(TransportFailure) {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &bytes, bytes.count, 0)
      if count < 0, errno == EAGAIN { return }
      guard count >= 0 else { throw failure(.reset) }
      exchange.stirred()
      for part in try count == 0 ? answer.end() : answer.take(bytes[..<count]) {
        switch part {
        case .head(let status, let fields, let version):
          let head = ResponseHead(status: status, headers: fields, url: request.url, httpVersion: version)
          exchange.receive(head)
        case .body(let data): exchange.receive(data)
        }
      }
    }
  }

  /// Reads an answer in HTTP/1.1 (RFC 9112), as a value: bytes go in, head and body come out.
  private struct AnswerParser {
    enum Part {
      case head(Int, HTTPHeaders, String)
      case body(Data)
    }

    private enum Phase {
      case statusLine, fields, sized(Int64), chunkSize, chunk(Int), chunkEnd, trailers, untilClose, complete
    }

    /// Longer heads are nobody's.
    private static let headLimit = 262_144

    private let isBodiless: Bool
    private var phase = Phase.statusLine
    private var rest: [UInt8] = []
    private var headCount = 0
    private var (version, status) = ("", 0)
    private var fields: [HTTPHeaders.Field] = []

    init(isBodiless: Bool) {
      self.isBodiless = isBodiless
    }

    var isComplete: Bool { if case .complete = phase { true } else { false } }

    /// The server sends no more.
    mutating func end() throws(TransportFailure) -> [Part] {
      guard case .untilClose = phase else { throw TransportFailure(.reset, detail: "socket: closed") }
      phase = .complete
      return []
    }

    mutating func take(_ bytes: ArraySlice<UInt8>) throws(TransportFailure) -> [Part] {
      rest += bytes
      var parts: [Part] = []
      while let part = try next() { parts += part }
      return parts
    }

    /// Takes one step; `nil` if that needs more bytes.
    private mutating func next() throws(TransportFailure) -> [Part]? {
      switch phase {
      case .complete: return nil
      case .sized(let count): return takeBody(count) { $0 == count ? .complete : .sized(count - $0) }
      case .chunk(let count):
        return takeBody(Int64(count)) { $0 == count ? .chunkEnd : .chunk(count - Int($0)) }
      case .untilClose: return takeBody(.max) { _ in .untilClose }
      case .statusLine, .fields, .chunkSize, .chunkEnd, .trailers:
        guard let line = try takeLine() else { return nil }
        return try read(line)
      }
    }

    private mutating func takeBody(_ limit: Int64, _ next: (Int64) -> Phase) -> [Part]? {
      guard !rest.isEmpty else { return nil }
      let count = Int(min(limit, Int64(rest.count)))
      let data = Data(rest[..<count])
      rest.removeFirst(count)
      phase = next(Int64(count))
      return [.body(data)]
    }

    private mutating func takeLine() throws(TransportFailure) -> String? {
      if case .statusLine = phase, !"HTTP/1.".utf8.starts(with: rest.prefix(7)) { throw broken("no status line") }
      guard let end = rest.firstIndex(of: 10) else {
        if rest.count > Self.headLimit { throw broken("an endless line") }
        return nil
      }
      headCount += end
      guard headCount <= Self.headLimit else { throw broken("an endless head") }
      let line = rest[..<end]
      rest.removeFirst(end + 1)
      return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
    }

    private mutating func read(_ line: String) throws(TransportFailure) -> [Part] {
      switch phase {
      case .statusLine:
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[1].utf8.count == 3, let number = Int(words[1]) else { throw broken("no status") }
        (version, status, fields, phase) = (String(words[0]), number, [], .fields)
      case .fields:
        if line.isEmpty { return try endHead() }
        guard let colon = line.firstIndex(of: ":") else { throw broken("a field without a colon") }
        guard !line.utf8.contains(0) else { throw broken("a NUL in a field") }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        fields.append(HTTPHeaders.Field(String(line[..<colon]), value))
      case .chunkSize:
        let size = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard let count = Int(size, radix: 16), count >= 0 else { throw broken("no size of a chunk") }
        phase = count == 0 ? .trailers : .chunk(count)
      case .chunkEnd:
        guard line.isEmpty else { throw broken("no end of a chunk") }
        phase = .chunkSize
      case .trailers:
        guard line.isEmpty || line.contains(":") else { throw broken("a trailer without a colon") }
        if line.isEmpty { phase = .complete }
      case .sized, .chunk, .untilClose, .complete: break
      }
      return []
    }

    private mutating func endHead() throws(TransportFailure) -> [Part] {
      guard status != 101 else { throw .unaskedUpgrade }
      guard status >= 200 else {
        phase = .statusLine
        return []
      }
      let headers = HTTPHeaders(fields)
      if isBodiless || status == 204 || status == 304 {
        phase = .complete
      } else if headers["Transfer-Encoding"]?.lowercased() == "chunked" {
        phase = .chunkSize
      } else if let length = headers["Content-Length"] {
        // One that is no number is refused with the head.
        let count = Int64(length) ?? 0
        phase = count > 0 ? .sized(count) : .complete
      } else {
        phase = .untilClose
      }
      return [.head(status, headers, version)]
    }

    private func broken(_ what: String) -> TransportFailure { TransportFailure(.protocol, detail: "socket: \(what)") }
  }
#endif
