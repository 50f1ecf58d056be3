#if Redis
  import Foundation
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  /// Stands between a connection and its server, and spoils what passes when a test says so.
  final class Proxy: Sendable {
    private struct State {
      /// The two ends of each connection: the client's, and the server's.
      var pairs: [Int32: Int32] = [:]
      var serverPort: Int
      /// What is kept back, if it comes, and what has been.
      var marker: [UInt8]?
      var kept: [UInt8] = []

      /// - Returns: Whether it is.
      mutating func keep(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let marker, bytes.contains(marker) else { return false }
        (self.marker, kept) = (nil, Array(bytes))
        return true
      }
    }

    let port: Int
    private let listener: Int32
    private let state: Locked<State>
    private let opened = Log<Void>()

    /// Accepts connections on a free port, and passes them on.
    ///
    /// - Parameter serverPort: Where they are passed on to.
    init(to serverPort: Int) throws {
      state = Locked(State(serverPort: serverPort))
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      let bound = withLoopback(0) { [listener] in bind(listener, $0, $1) }
      try #require(bound == 0)
      port = try #require(boundPort(listener))
      try #require(listen(listener, 16) == 0)
      Thread.detachNewThread { [weak self, listener] in
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0, let self else {
            if client >= 0 { close(client) }
            // Not before: by then its number could be that of another test's listener, whose connections this would take.
            close(listener)
            return
          }
          pass(client)
        }
      }
    }

    deinit {
      shutdown(listener, Int32(SHUT_RDWR))
      drop()
    }

    var address: RedisAddress { .tcp("127.0.0.1", port: port) }
    /// How many connections there have been.
    var connectionCount: Int { opened.count }

    /// Returns as soon as there have been that many connections, or more.
    func untilConnected(_ count: Int) async { await opened.until(count) }

    /// Passes connections on to another port from now on; those that there are stay.
    func lead(to serverPort: Int) { state.withLock { $0.serverPort = serverPort } }

    /// Ends all connections.
    func drop() {
      state.withLock { state in
        for (client, server) in state.pairs {
          shutdown(client, Int32(SHUT_RDWR))
          shutdown(server, Int32(SHUT_RDWR))
        }
      }
    }

    /// Sends to all clients what the server has not said.
    func inject(_ bytes: [UInt8]) {
      state.withLock { state in
        for client in state.pairs.keys { _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
      }
    }

    /// Keeps back the next piece in which clients say this, and ends the connection that it came over.
    func keep(whatContains marker: [UInt8]) { state.withLock { $0.marker = marker } }

    /// Tells the server what was kept, and returns when it has been heard.
    func sendKept() throws {
      let (bytes, port) = state.withLock { ($0.kept, $0.serverPort) }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(server) }
      try #require(withLoopback(port) { connect(server, $0, $1) } == 0)
      try #require(!bytes.isEmpty && send(server, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
      shutdown(server, Int32(SHUT_WR))
      var buffer = [UInt8](repeating: 0, count: 1_024)
      while recv(server, &buffer, buffer.count, 0) > 0 {}
    }

    private func pass(_ client: Int32) {
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard withLoopback(state.withLock { $0.serverPort }, { connect(server, $0, $1) }) == 0 else {
        close(client)
        close(server)
        return
      }
      // Nagle's algorithm would keep each answer until the one before is acknowledged, which is with the next question.
      var isOn: Int32 = 1
      for end in [client, server] {
        setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
      }
      state.withLock { $0.pairs[client] = server }
      opened.write(())
      // The two directions end together; the last one closes both.
      let ended = Log<Void>()
      let end: @Sendable () -> Void = { [weak self] in
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
        guard ended.number(()) == 2 else { return }
        self?.state.withLock { $0.pairs[client] = nil }
        close(client)
        close(server)
      }
      let keep: @Sendable (ArraySlice<UInt8>) -> Bool = { [weak self] bytes in
        self?.state.withLock { $0.keep(bytes) } ?? false
      }
      Self.pump(from: client, to: server, keepingIf: keep, end)
      Self.pump(from: server, to: client, end)
    }

    private static func pump(
      from source: Int32,
      to target: Int32,
      keepingIf keep: @escaping @Sendable (ArraySlice<UInt8>) -> Bool = { _ in false },
      _ end: @escaping @Sendable () -> Void
    ) {
      Thread.detachNewThread {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
          let count = recv(source, &buffer, buffer.count, 0)
          guard count > 0, !keep(buffer[..<count]) else { break }
          var sent = 0
          while sent < count {
            let more = buffer.withUnsafeBytes {
              send(target, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { break }
            sent += more
          }
          guard sent == count else { break }
        }
        end()
      }
    }
  }
#endif
