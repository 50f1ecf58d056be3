import Foundation
import MisbehavingServer
import ReboundHTTP
import ReboundTesting
import Testing

/// Many requests that meet faults by chance leave nothing behind.
///
/// REBOUND_FAULT_REQUESTS sets how many; the default is a short form of the 10,000 that scripts/stress-http sends. That
/// many are for `CurlTransport` alone: with so many broken connections Foundation's event loop has been seen to crash.
@Suite("Random faults", .timeLimit(.minutes(10)), .serialized)
struct RandomFaultTests {
  static let shortForm = 300

  static func requestCount(_ kind: TransportKind) -> Int {
    let wanted = ProcessInfo.processInfo.environment["REBOUND_FAULT_REQUESTS"].flatMap { Int($0) } ?? shortForm
    return kind == .urlSession ? min(wanted, shortForm) : wanted
  }

  #if os(Linux)
    @Test("leave no descriptor and no receiver behind", arguments: TransportKind.allCases, [1, 2] as [UInt64])
    func leaveNothing(kind: TransportKind, seed: UInt64) async throws {
      var random = SeededRandom(seed: seed)
      let server = try MisbehavingServer()
      server.stalls = false
      let faults = FaultCase.all.filter { $0.fault != .closeInFields && !$0.fault.isOfConnection && !$0.fault.stalls }
      for (index, faultCase) in faults.enumerated() { server.program("/\(index)", faultCase.fault) }
      weak var last: TransportLog?
      do {
        let transport = kind.make()
        for number in 0..<Self.requestCount(kind) {
          let index = Int.random(in: faults.indices, using: &random)
          let sendings = faults[index].sendings
          let sending = sendings[Int.random(in: sendings.indices, using: &random)]
          let cancels = Int.random(in: 0..<10, using: &random) == 0
          let log = TransportLog()
          last = log
          let request = TransportRequest(
            server.url("/\(index)"),
            method: HTTPMethod(rawValue: sending.rawValue),
            body: sending.body,
            limits: TransportLimits(responseBytes: faults[index].responseBytes)
          )
          let exchange = transport.start(request, telling: log.add)
          if cancels {
            exchange.cancel()
          } else {
            await log.end()
            // Over a kept connection another failure than the fault's own may come first, but never an unnamed one.
            #expect(log.failure?.kind != .other, "request \(number), seed \(seed): \(faults[index].fault)")
          }
        }
      }
      while last != nil { await Task.yield() }
      // The server's side of each connection ends when the client has closed its own.
      await server.connectionsEnded(server.connectionCount)
    }
  #endif
}
