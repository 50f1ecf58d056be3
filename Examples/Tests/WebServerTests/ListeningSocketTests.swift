import Testing

@testable import WebServer

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("ListeningSocket")
struct ListeningSocketTests {
  @Test("port 0 picks a free port and says which")
  func freePort() throws {
    let first = try ListeningSocket(address: "127.0.0.1", port: 0)
    defer { close(first.descriptor) }
    let second = try ListeningSocket(address: "127.0.0.1", port: 0)
    defer { close(second.descriptor) }
    #expect(first.port != 0)
    #expect(first.port != second.port)
  }

  @Test("a taken port is refused with an error of its own")
  func takenPort() throws {
    let first = try ListeningSocket(address: "127.0.0.1", port: 0)
    defer { close(first.descriptor) }
    #expect(throws: HTTPServerError.portTaken(address: "127.0.0.1", port: first.port)) {
      try ListeningSocket(address: "127.0.0.1", port: first.port)
    }
  }

  @Test("an address that isn't this machine's is refused", arguments: ["192.0.2.1", "localhost", "::1", ""])
  func foreignAddress(address: String) {
    #expect(throws: HTTPServerError.addressUnavailable(address)) { try ListeningSocket(address: address, port: 0) }
  }
}
