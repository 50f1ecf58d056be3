import Foundation
import StreamSupport

/// An HTTP proxy on the loopback interface, for requests in absolute form and for tunnels (CONNECT).
///
/// Whatever host is asked for, it connects to the port on the loopback interface. It is stopped when it is released. Each
/// connection has threads of its own.
public final class ForwardProxy: Sendable {
  /// What it does with a request.
  public enum Behaviour: Hashable, Sendable {
    /// It passes the request on.
    case forward
    /// It passes on what has these credentials of the Basic scheme, "user:password", and answers all else with 407.
    case demand(String)
    /// It answers with a status.
    case refuse(Int)
    /// It closes the connection.
    case close
    /// It answers in no known language.
    case babble
  }

  private let state: ProxyState
  private let listener: Socket
  private let bell: Bell

  /// Starts a proxy on a free port.
  public init(_ behaviour: Behaviour = .forward) throws {
    listener = try .boundToLoopback()
    try listener.listen(backlog: 128)
    bell = try Bell()
    state = ProxyState()
    listener.serveConnections(untilBell: bell) { [state] socket in
      ProxiedConnection(socket, behaviour, state).serve()
    }
  }

  deinit {
    stop()
  }

  /// Where it listens.
  public var port: UInt16 { listener.port }

  /// What it was asked for, oldest first; without bodies.
  public var requests: [ReceivedRequest] { state.requests }

  /// Closes all connections, and takes no more: on Linux they are refused from then on.
  public func stop() {
    state.stop()
    listener.stopListening(bell)
  }
}

/// What a proxy and its connections share.
private final class ProxyState: Sendable {
  private struct State {
    var isStopped = false
    var requests: [ReceivedRequest] = []
    var sockets: [Int32: Socket] = [:]
    var connectionCount = 0
  }

  private let state = Locked(State())

  var requests: [ReceivedRequest] { state.withLock { $0.requests } }

  func record(_ request: ReceivedRequest) {
    state.withLock { $0.requests.append(request) }
  }

  func nextConnection() -> Int {
    state.withLock { state in
      defer { state.connectionCount += 1 }
      return state.connectionCount
    }
  }

  /// Takes note of a socket that has to be woken at the end; says whether it is not yet the end.
  func open(_ socket: Socket) -> Bool {
    state.withLock { state in
      if !state.isStopped { state.sockets[socket.descriptor] = socket }
      return !state.isStopped
    }
  }

  func close(_ socket: Socket) {
    _ = state.withLock { $0.sockets.removeValue(forKey: socket.descriptor) }
  }

  func stop() {
    let open = state.withLock { state in
      state.isStopped = true
      return Array(state.sockets.values)
    }
    for socket in open { socket.wake() }
  }
}

/// One connection to a proxy, for the thread that reads from it.
private final class ProxiedConnection {
  private let client: Socket
  private let behaviour: ForwardProxy.Behaviour
  private let state: ProxyState
  /// Whom the latest request went to.
  private var server: (socket: Socket, port: UInt16)?
  /// The same, for the threads that carry answers: whoever else ends is of no interest to the client.
  private let latest = LatestServer()
  private var buffer: [UInt8] = []

  init(_ client: Socket, _ behaviour: ForwardProxy.Behaviour, _ state: ProxyState) {
    self.client = client
    self.behaviour = behaviour
    self.state = state
  }

  func serve() {
    guard state.open(client) else { return }
    let number = state.nextConnection()
    while let head = readHead(), let request = ReceivedRequest(head: head, connection: number) {
      state.record(request)
      guard answer(request, head) else { break }
    }
    server?.socket.endSending()
    // Closing with anything unread would be a reset.
    if server == nil { client.endSending() }
    while !client.receive(atMost: 65_536).isEmpty {}
    state.close(client)
  }

  /// Says whether another request may follow.
  private func answer(_ request: ReceivedRequest, _ head: String) -> Bool {
    switch behaviour {
    case .forward: return forward(request, head)
    case .demand(let credentials):
      let wanted = "Basic \(Data(credentials.utf8).base64EncodedString())"
      if request[field: "Proxy-Authorization"] == wanted { return forward(request, head) }
      return send(status: 407, fields: "Proxy-Authenticate: Basic realm=\"proxy\"\r\n")
    case .refuse(let status): return send(status: status)
    case .close: return false
    case .babble:
      _ = client.send("Moin moin, wat schall dat denn?\r\n\r\n".utf8)
      return false
    }
  }

  private func send(status: Int, fields: String = "") -> Bool {
    _ = client.send("HTTP/1.1 \(status) So\r\n\(fields)Content-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    return false
  }

  private func forward(_ request: ReceivedRequest, _ head: String) -> Bool {
    if request.method == "CONNECT" { return tunnel(to: request.target) }
    guard let url = URL(string: request.target), let port = UInt16(exactly: url.port ?? 80),
      let server = connect(to: port)
    else {
      return send(status: 502)
    }
    let origin = request.target.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    let path = origin.count < 3 ? "/" : "/" + (origin[2].firstIndex(of: "/").map { origin[2][$0...].dropFirst() } ?? "")
    let fields = head.split(separator: "\r\n").dropFirst().filter { !$0.lowercased().hasPrefix("proxy-") }
    let lines = ["\(request.method) \(path) HTTP/1.1"] + fields.map(String.init) + ["Via: 1.1 proxy"]
    guard server.send((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) else { return false }
    if request[field: "Transfer-Encoding"]?.lowercased() == "chunked" { return sendChunks(to: server) }
    return sendBytes(Int(request[field: "Content-Length"] ?? "") ?? 0, to: server)
  }

  private func sendBytes(_ count: Int, to server: Socket) -> Bool {
    var left = count
    while left > 0 {
      if buffer.isEmpty, !fill() { return false }
      let part = buffer.prefix(left)
      guard server.send(part) else { return false }
      buffer.removeFirst(part.count)
      left -= part.count
    }
    return true
  }

  /// Passes chunks on as they are, and the fields behind the last one.
  private func sendChunks(to server: Socket) -> Bool {
    while let line = sendLine(to: server), let size = Int(line.prefix { $0.isHexDigit }, radix: 16) {
      if size == 0 {
        while let field = sendLine(to: server) { if field.isEmpty { return true } }
        return false
      }
      guard sendBytes(size, to: server), sendLine(to: server) == "" else { return false }
    }
    return false
  }

  /// Passes a line on, and says what stands there.
  private func sendLine(to server: Socket) -> String? {
    while true {
      if let end = buffer.firstIndex(of: 10) {
        let line = buffer[...end]
        defer { buffer.removeFirst(line.count) }
        return server.send(line) ? String(decoding: line.filter { $0 != 13 && $0 != 10 }, as: UTF8.self) : nil
      }
      guard buffer.count < 1 << 20, fill() else { return nil }
    }
  }

  private func tunnel(to authority: String) -> Bool {
    guard let port = authority.split(separator: ":").last.flatMap({ UInt16($0) }),
      let server = connect(to: port, asTunnel: true)
    else {
      return send(status: 502)
    }
    repeat {
      guard server.send(buffer) else { return false }
      buffer = []
    } while fill()
    return false
  }

  /// Connects to the server unless that is done, and has a thread carry its bytes to the client.
  private func connect(to port: UInt16, asTunnel isTunnel: Bool = false) -> Socket? {
    if !isTunnel, let server, server.port == port { return server.socket }
    guard let socket = try? Socket.connected(to: port), state.open(socket) else { return nil }
    let before = server?.socket
    server = (socket, port)
    latest.become(socket)
    // A client that asks another server has all that it wanted of this one.
    before?.wake()
    if isTunnel, !client.send("HTTP/1.1 200 Here you are\r\n\r\n".utf8) { return nil }
    Thread.detachNewThread { [client, state, latest] in
      while case let bytes = socket.receive(atMost: 65_536), !bytes.isEmpty, client.send(bytes) {}
      if latest.isIt(socket) { client.endSending() }
      state.close(socket)
    }
    return socket
  }

  private func fill() -> Bool {
    let received = client.receive(atMost: 65_536)
    buffer += received
    return !received.isEmpty
  }

  private func readHead() -> String? {
    let end = Data("\r\n\r\n".utf8)
    while true {
      if let place = Data(buffer).range(of: end) {
        defer { buffer.removeFirst(place.upperBound) }
        return String(decoding: buffer[..<place.lowerBound], as: UTF8.self)
      }
      guard buffer.count < 1 << 20, fill() else { return nil }
    }
  }
}

/// The server that a client has asked last.
private final class LatestServer: Sendable {
  private let socket = Locked<Socket?>(nil)

  func become(_ new: Socket) { socket.withLock { $0 = new } }
  func isIt(_ other: Socket) -> Bool { socket.withLock { $0 === other } }
}

extension Socket {
  /// A connection to a port of the loopback interface.
  static func connected(to port: UInt16) throws -> Socket {
    let socket = try boundToLoopback()
    socket.startConnecting(to: port)
    var condition = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
    while poll(&condition, 1, -1) < 0 && errno == EINTR {}
    var problem: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket.descriptor, SOL_SOCKET, SO_ERROR, &problem, &size)
    guard problem == 0 else { throw SocketError(call: "connect", code: problem) }
    _ = fcntl(socket.descriptor, F_SETFL, fcntl(socket.descriptor, F_GETFL) & ~O_NONBLOCK)
    return socket
  }
}
