#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A TCP socket that listens.
///
/// Opened here rather than by libmicrohttpd, which doesn't say why it failed.
struct ListeningSocket {
  let descriptor: Int32
  let port: UInt16

  /// Opens a socket.
  ///
  /// - Parameter port: The port; 0 for a free one.
  init(address: String, port: UInt16) throws(HTTPServerError) {
    #if canImport(Darwin)
      let streamType = SOCK_STREAM
    #else
      let streamType = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #endif
    let descriptor = socket(AF_INET, streamType, 0)
    guard descriptor >= 0 else { throw .lastSystemError("socket") }
    do throws(HTTPServerError) {
      self.port = try ListeningSocket.listen(descriptor, address: address, port: port)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  private static func listen(_ descriptor: Int32, address: String, port: UInt16) throws(HTTPServerError) -> UInt16 {
    // Without it a server couldn't start again while connections of its predecessor linger in TIME_WAIT.
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))

    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    guard inet_pton(AF_INET, address, &name.sin_addr) == 1 else { throw .addressUnavailable(address) }

    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
    }
    guard isBound else {
      switch errno {
      case EADDRINUSE: throw .portTaken(address: address, port: port)
      case EACCES: throw .portForbidden(port: port)
      case EADDRNOTAVAIL: throw .addressUnavailable(address)
      default: throw .lastSystemError("bind")
      }
    }
    #if canImport(Darwin)
      let isListening = Darwin.listen(descriptor, SOMAXCONN) == 0
    #else
      let isListening = Glibc.listen(descriptor, SOMAXCONN) == 0
    #endif
    guard isListening else {
      throw errno == EADDRINUSE ? .portTaken(address: address, port: port) : .lastSystemError("listen")
    }

    let isNamed = withUnsafeMutablePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    guard isNamed else { throw .lastSystemError("getsockname") }
    return UInt16(bigEndian: name.sin_port)
  }
}

extension HTTPServerError {
  fileprivate static func lastSystemError(_ operation: String) -> HTTPServerError {
    .system(operation: operation, reason: String(cString: strerror(errno)))
  }
}
