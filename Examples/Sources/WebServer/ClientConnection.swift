import CMicroHTTPD

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A client's connection, from when it was accepted to when it is closed.
///
/// libmicrohttpd closes one on which nothing comes, but not one on which a request comes a byte at a time.
final class ClientConnection: Sendable {
  /// A part of a request, which is waited for.
  enum Part {
    case head
    case body
  }

  private struct State {
    /// Nil from when a request is complete until it is over.
    var part: Part? = .head
    /// How often this connection was looked at since it began to wait for that part.
    var looks = 0
    var isClosed = false
  }

  private let socket: Int32
  private let state = Locked(State())

  init(socket: Int32) {
    self.socket = socket
  }

  /// Notes that a head is complete: its body is waited for.
  func headIsComplete() { begin(.body) }

  /// Notes that a request is complete.
  func requestIsComplete() { begin(nil) }

  /// Notes that a request is over: the next head is waited for.
  func requestIsOver() { begin(.head) }

  private func begin(_ part: Part?) {
    state.withLock {
      $0.part = part
      $0.looks = 0
    }
  }

  /// Hangs up if this connection has waited for this part all the time since it was looked at this often.
  func look(for part: Part, allowing looks: Int) {
    state.withLock { state in
      guard state.part == part, !state.isClosed else { return }
      state.looks += 1
      // Under the lock, so that the descriptor is not somebody else's by now: libmicrohttpd closes it after `end()`.
      if state.looks > looks { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Notes that libmicrohttpd is about to close the socket.
  func end() {
    state.withLock { $0.isClosed = true }
  }
}
