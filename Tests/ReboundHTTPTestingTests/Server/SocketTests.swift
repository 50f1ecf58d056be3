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
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        let server = try MisbehavingServer()
        server.program("/", .answer("ok."))
        let client = try Socket.boundToLoopback()
        var limit = rlimit()
        try #require(getrlimit(resource, &limit) == 0)
        // All numbers below it are taken, by the standard streams.
        var shortage = rlimit(rlim_cur: 3, rlim_max: limit.rlim_max)
        try #require(setrlimit(resource, &shortage) == 0)
        // The system makes the connection, whoever takes it.
        client.startConnecting(to: server.port)
        let (before, mostLooks) = (SocketTests.waitCount, 2_000_000)
        var looks = 0
        while looks < mostLooks, SocketTests.waitCount < before + 5 { looks += 1 }
        #expect(looks < mostLooks)
        try #require(setrlimit(resource, &limit) == 0)
        _ = fcntl(client.descriptor, F_SETFL, fcntl(client.descriptor, F_GETFL) & ~O_NONBLOCK)
        _ = client.send("GET / HTTP/1.1\r\n\r\n".utf8)
        #expect(client.readAnswer().hasSuffix("ok."))
      }
    }
  #endif
}
