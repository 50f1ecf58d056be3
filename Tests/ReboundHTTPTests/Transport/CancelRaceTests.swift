import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Cancels that meet the end", .timeLimit(.minutes(10)))
struct CancelRaceTests {
  // Foundation on Linux stops the process when a task is cancelled that it has forgotten already: hence an exit test.
  @Test("leave the process alone", arguments: TransportKind.allCases)
  func survives(kind: TransportKind) async {
    await #expect(processExitsWith: .success) { [kind] in
      let server = try MisbehavingServer()
      server.recordsRequests = false
      server.program("/", .answer())
      let transport = kind.make(reachability: ManualReachability())
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<8 {
          group.addTask {
            var random = SeededRandom(seed: UInt64(lane))
            for _ in 0..<500 {
              let log = TransportLog()
              let exchange = transport.start(TransportRequest(server.url()), telling: log.add)
              // Anywhere between the start and the end, which is some dozens of these away.
              for _ in 0..<Int.random(in: 0..<200, using: &random) where !log.isOver { await Task.yield() }
              exchange.cancel()
            }
          }
        }
      }
      // The transport still works.
      let log = TransportLog()
      let exchange = transport.start(TransportRequest(server.url()), telling: log.add)
      await log.end()
      exchange.cancel()
      #expect(log.failure == nil)
    }
  }
}
