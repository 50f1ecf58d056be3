import Foundation

/// A TCP socket of the system, closed when it is released.
///
/// All calls block, except where they say otherwise. A signal that interrupts one starts it again.
final class Socket: Sendable {
  let descriptor: Int32

  init(descriptor: Int32) {
    self.descriptor = descriptor
    setOption(tcpLevel, TCP_NODELAY, Int32(1))
    #if canImport(Darwin)
      setOption(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
    #endif
  }

  /// Makes a socket that is bound to a port of the loopback interface, and does not listen yet; port 0 is any that is free.
  static func boundToLoopback(port: UInt16 = 0) throws -> Socket {
    #if canImport(Darwin)
      let type = SOCK_STREAM
    #else
      let type = Int32(SOCK_STREAM.rawValue)
    #endif
    let socket = Socket(descriptor: try check("socket", Foundation.socket(AF_INET, type, 0)))
    _ = try socket.withLoopbackAddress(port: port) { try check("bind", bind(socket.descriptor, $0, $1)) }
    return socket
  }

  deinit {
    close(descriptor)
  }

  /// The port that it is bound to.
  var port: UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  func listen(backlog: Int32) throws {
    try check("listen", Foundation.listen(descriptor, backlog))
  }

  /// Has a thread of its own serve each connection, until `bell` is rung; does not wait.
  func serveConnections(untilBell bell: Bell, _ serve: @escaping @Sendable (Socket) -> Void) {
    Thread.detachNewThread { [self] in
      while waitForConnection(orBell: bell.descriptor) {
        guard let socket = accept() else {
          // It may be gone again, or the system has no descriptor left for it: then it can be taken as soon as somebody gives
          // one back, of which nobody is told.
          wait(for: [pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)], milliseconds: 10)
          continue
        }
        Thread.detachNewThread { serve(socket) }
      }
    }
  }

  /// Rings the bell, and refuses connections from now on: those that nobody takes any more would be made all the same.
  func stopListening(_ bell: Bell) {
    // First, or the thread that listens would find nothing to accept again and again.
    bell.ring()
    wake()
  }

  /// The next connection; `nil` if there is none after all.
  private func accept() -> Socket? {
    let accepted = Foundation.accept(descriptor, nil, nil)
    return accepted < 0 ? nil : Socket(descriptor: accepted)
  }

  /// Starts a connection to a port of the loopback interface, and does not wait for it.
  func startConnecting(to port: UInt16) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    withLoopbackAddress(port: port) { _ = connect(descriptor, $0, $1) }
  }

  /// What the client has sent, at most so many bytes; empty at its end.
  func receive(atMost count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      var received: Int
      repeat { received = recv(descriptor, buffer.baseAddress, count, 0) } while received < 0 && errno == EINTR
      filled = max(0, received)
    }
  }

  /// So many bytes, of those that came before first; `nil` if the end comes before that.
  ///
  /// - Parameter buffer: What came before and was not taken yet.
  func receive(exactly count: Int, buffering buffer: inout [UInt8]) -> [UInt8]? {
    while buffer.count < count {
      let received = receive(atMost: 65_536)
      guard !received.isEmpty else { return nil }
      buffer += received
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  /// Sends all bytes, and says whether the client took them.
  func send(_ bytes: some Collection<UInt8>) -> Bool {
    let isSent = bytes.withContiguousStorageIfAvailable { buffer in
      var rest = UnsafeRawBufferPointer(buffer)[...]
      while !rest.isEmpty {
        let sent = send(UnsafeRawBufferPointer(rebasing: rest), Socket.withoutSignal)
        guard sent > 0 else { return false }
        rest = rest.dropFirst(sent)
      }
      return true
    }
    return isSent ?? send(Array(bytes))
  }

  /// Sends as many of the bytes as the system takes without a wait, and removes them; says whether it takes any at all.
  func sendSome(_ bytes: inout ArraySlice<UInt8>) -> Bool {
    guard !bytes.isEmpty else { return true }
    let sent = bytes.withUnsafeBytes { send($0, Socket.withoutSignal | Int32(MSG_DONTWAIT)) }
    guard sent > 0 else { return errno == EAGAIN || errno == EWOULDBLOCK }
    bytes = bytes.dropFirst(sent)
    return true
  }

  private func send(_ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
    var sent: Int
    repeat {
      sent = Foundation.send(descriptor, bytes.baseAddress, bytes.count, flags)
    } while sent < 0 && errno == EINTR
    return sent
  }

  #if canImport(Darwin)
    private static let withoutSignal: Int32 = 0
  #else
    private static let withoutSignal = Int32(MSG_NOSIGNAL)
  #endif

  /// Ends the stream towards the client.
  func endSending() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Makes every call that waits on the socket return.
  func wake() {
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Lets the release of the socket send a reset in place of an orderly end.
  func resetWhenClosed() {
    setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
  }

  /// Waits until the client has closed its end, or `bell` can be read.
  func waitForEnd(orBell bell: Int32) {
    #if canImport(Darwin)
      let closed = Int16(POLLHUP)
    #else
      // The end of the client's stream, also behind bytes that nobody has read.
      let closed = Int16(0x2000 /* POLLRDHUP */)
    #endif
    wait(for: [
      pollfd(fd: descriptor, events: closed, revents: 0), pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
    ])
  }

  /// Waits until a connection can be accepted, or `bell` can be read; says whether it cannot be read yet.
  private func waitForConnection(orBell bell: Int32) -> Bool {
    let events = Int16(POLLIN)
    return wait(for: [
      pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: bell, events: events, revents: 0),
    ])[1].revents == 0
  }

  @discardableResult
  private func wait(for conditions: [pollfd], milliseconds: Int32 = -1) -> [pollfd] {
    var conditions = conditions
    while poll(&conditions, nfds_t(conditions.count), milliseconds) < 0 && errno == EINTR {}
    return conditions
  }

  private func setOption(_ level: Int32, _ name: Int32, _ value: some BitwiseCopyable) {
    withUnsafeBytes(of: value) {
      _ = setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count))
    }
  }

  private func withLoopbackAddress<Result>(
    port: UInt16,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
  ) rethrows -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return try withUnsafePointer(to: &address) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}

/// A pipe whose reading end wakes a thread that polls.
final class Bell: Sendable {
  let descriptor: Int32
  private let ringer: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    try check("pipe", pipe(&ends))
    (descriptor, ringer) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
  }

  func ring() {
    var byte: UInt8 = 0
    _ = write(ringer, &byte, 1)
  }

  /// Makes it ready to be rung for something else.
  func silence() {
    var bytes: UInt64 = 0
    while read(descriptor, &bytes, 8) > 0 {}
  }

  deinit {
    close(descriptor)
    close(ringer)
  }
}

/// The system refused a call.
public struct SocketError: Error, CustomStringConvertible {
  /// What was called.
  public let call: String
  /// The system's number for the reason.
  public let code: Int32

  /// What happened, and what to look at.
  public var description: String {
    "The misbehaving server could not \(call): \(String(cString: strerror(code))) (errno \(code)). "
      + "Look at the ports and open files of this machine."
  }
}

/// Passes on what a system call returned, or throws if that is its way of saying that it failed.
@discardableResult
private func check(_ call: String, _ result: Int32) throws -> Int32 {
  guard result >= 0 else { throw SocketError(call: call, code: errno) }
  return result
}

#if canImport(Darwin)
  private let tcpLevel = IPPROTO_TCP
#else
  private let tcpLevel = Int32(IPPROTO_TCP)
#endif
