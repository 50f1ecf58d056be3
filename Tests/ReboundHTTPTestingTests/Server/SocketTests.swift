import Foundation
import Testing

@testable import ReboundHTTPTesting

@Suite("Socket")
struct SocketTests {
  #if os(Linux)
    /// How often threads of this process have given up their processor to wait for something.
    private static var waitCount: Int {
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      return usage.ru_nvcsw
    }

    @Test(
      "who takes connections waits while there is no descriptor for one, and takes it then",
      .timeLimit(.minutes(5))
    )
    func shortage() async {
      // Seen before: two million looks, and a thread that never waited.
      await #expect(processExitsWith: .success) {
        var limit = rlimit(rlim_cur: 256, rlim_max: 256)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let server = try MisbehavingServer()
        server.program("/", .answer("ok."))
        var held: [Int32] = []
        while case let descriptor = dup(0), descriptor >= 0 { held.append(descriptor) }
        close(held.removeLast())
        // The system makes it, whoever takes it.
        let client = try Socket.connected(to: server.port)
        let (before, mostLooks) = (SocketTests.waitCount, 2_000_000)
        var looks = 0
        while looks < mostLooks, SocketTests.waitCount < before + 5 { looks += 1 }
        #expect(looks < mostLooks)
        for descriptor in held { close(descriptor) }
        _ = client.send("GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(client.readAnswer().hasSuffix("ok."))
      }
    }
  #endif
}
