#if Curl
  import Foundation

  @testable import ReboundHTTPTesting

  /// Ports for servers that another program is about to open.
  ///
  /// Nobody keeps them between the look and the start. So they are none that the system gives to whoever asks for any port
  /// (RFC 6056 §3.2), which on Linux begin at 32,768.
  enum FreePort {
    /// Draws one that nobody has on the loopback interface.
    static func draw() throws -> UInt16 {
      for _ in 0..<100 {
        let port = UInt16.random(in: 10_000..<32_768)
        if (try? Socket.boundToLoopback(port: port)) != nil { return port }
      }
      throw POSIXError(.EADDRINUSE)
    }
  }
#endif
