import Expectations
import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import Testing

@Suite("Fault matrix", .timeLimit(.minutes(10)))
struct FaultMatrixTests {
  static func cells(_ transport: TransportKind, _ sending: FaultCase.Sending) -> [TransportContract.Case] {
    transport.contract.cases.filter { $0.sending == sending }.filter { !transport.stopsProcess(at: $0) }
  }

  @Test("has hundreds of cells for each transport", arguments: TransportKind.allCases)
  func isLarge(transport: TransportKind) {
    #expect(FaultCase.Sending.allCases.flatMap { Self.cells(transport, $0) }.count >= 300)
  }

  // One test for many cells: hundreds of sessions at once would starve each other of threads.
  @Test(
    "ends each exchange with the one verdict of its fault",
    arguments: TransportKind.allCases,
    FaultCase.Sending.allCases
  )
  func verdicts(transport: TransportKind, sending: FaultCase.Sending) async throws {
    for cell in Self.cells(transport, sending) {
      do { try await cell.run() } catch { Issue.record(error) }
    }
  }

  @Test("a body in Brotli is undone", arguments: TransportKind.allCases)
  func brotli(transport: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .brotliAnswer)
    let log = TransportLog()
    let exchange = transport.make().start(TransportRequest(server.url()), telling: log.add)
    await log.end()
    exchange.cancel()
    expectEqual(log.body, Data("ok".utf8), "\(String(describing: log.failure))")
  }
}
