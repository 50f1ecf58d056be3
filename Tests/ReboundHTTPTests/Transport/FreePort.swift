#if Curl
  import Foundation
  import Glibc

  /// Ports for servers that another program is about to open.
  ///
  /// Nobody keeps them between the look and the start. So they are none that the system gives to whoever asks for any port
  /// (RFC 6056 §3.2), which on Linux begin at 32,768.
  enum FreePort {
    /// Draws one that nobody has on the loopback interface.
    static func draw() throws -> UInt16 {
      for _ in 0..<100 {
        let port = UInt16.random(in: 10_000..<32_768)
        if isFree(port) { return port }
      }
      throw POSIXError(.EADDRINUSE)
    }

    private static func isFree(_ port: UInt16) -> Bool {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
      return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
  }
#endif
