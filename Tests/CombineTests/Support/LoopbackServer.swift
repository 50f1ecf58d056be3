#if Foundation
  import Dispatch
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A server on this machine that gives every connection the same bytes, and closes it.
  final class LoopbackServer: Sendable {
    struct CannotListen: Error {}

    /// The erased subscriber that it listens on.
    let port: UInt16
    private let socket: Int32

    /// Starts to listen.
    ///
    /// - Parameter answer: what every connection gets, head and body.
    init(answering answer: String) throws {
      #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
      #else
        let stream = SOCK_STREAM
      #endif
      socket = Foundation.socket(AF_INET, stream, 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let socket = socket
      let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(socket, address, length) == 0 && listen(socket, 16) == 0 && getsockname(socket, address, &length) == 0
        }
      }
      port = UInt16(bigEndian: address.sin_port)
      guard socket >= 0, isListening else {
        close(socket)
        throw CannotListen()
      }
      // Ends when `stop()` shuts the socket down.
      Thread.detachNewThread {
        while true {
          let connection = accept(socket, nil, nil)
          guard connection >= 0 else { break }
          Self.readHead(of: connection)
          _ = Array(answer.utf8).withUnsafeBytes {
            send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          close(connection)
        }
        close(socket)
      }
    }

    /// Refuses connections from here on.
    func stop() {
      _ = shutdown(socket, Int32(SHUT_RDWR))
    }

    private static func readHead(of connection: Int32) {
      var head: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1024)
      while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        head += buffer.prefix(count)
      }
    }
  }
#endif
