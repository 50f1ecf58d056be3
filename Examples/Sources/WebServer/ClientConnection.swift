import CMicroHTTPD

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A client's connection, from when it was accepted to when it is closed.
///
/// libmicrohttpd closes one on which nothing comes, but not one on which the head of a request comes a byte at a time.
final class ClientConnection: Sendable {
  private struct State {
    /// How often this connection was looked at since it began to wait for a head; nil while a request is under way.
    var looks: Int? = 0
    var isClosed = false
  }

  private let socket: Int32
  private let state = Locked(State())

  init(socket: Int32) {
    self.socket = socket
  }

  /// Notes that a head is complete.
  func headIsComplete() {
    state.withLock { $0.looks = nil }
  }

  /// Notes that a request is over: the next head is waited for.
  func requestIsOver() {
    state.withLock { $0.looks = 0 }
  }

  /// Hangs up if this connection has waited for a head all the time since it was looked at this often.
  func look(allowing looks: Int) {
    state.withLock { state in
      guard let before = state.looks, !state.isClosed else { return }
      state.looks = before + 1
      // Under the lock, so that the descriptor is not somebody else's by now: libmicrohttpd closes it after `end()`.
      if before >= looks { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Notes that libmicrohttpd is about to close the socket.
  func end() {
    state.withLock { $0.isClosed = true }
  }
}
