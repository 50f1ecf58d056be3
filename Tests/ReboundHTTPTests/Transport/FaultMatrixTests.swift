import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Fault matrix", .timeLimit(.minutes(2)))
struct FaultMatrixTests {
  /// A fault, what is sent to meet it, and through what.
  struct Cell: CustomStringConvertible {
    let faultCase: FaultCase
    let sending: FaultCase.Sending
    let transport: TransportKind

    var description: String { "\(faultCase.fault), \(sending.rawValue), \(transport.rawValue)" }

    /// Foundation on Linux stops the process, which no test survives; ``FoundationFaultTests`` has it.
    var stopsProcess: Bool {
      #if canImport(Darwin)
        false
      #else
        transport == .urlSession && [.closeInFields, .trailers].contains(faultCase.fault)
      #endif
    }
  }

  static func cells(_ transport: TransportKind, _ sending: FaultCase.Sending) -> [Cell] {
    FaultCase.all
      .filter { $0.sendings.contains(sending) }
      .map { Cell(faultCase: $0, sending: sending, transport: transport) }
      .filter { !$0.stopsProcess }
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
    for cell in Self.cells(transport, sending) { try await play(cell) }
  }

  private func play(_ cell: Cell) async throws {
    let (faultCase, fault) = (cell.faultCase, cell.faultCase.fault)
    let server = try MisbehavingServer()
    if fault.isOfConnection { server.programConnections(then: fault) } else { server.program("/fault", fault) }
    let scheduler = TestScheduler()
    let transport = cell.transport.make(scheduler.time)
    let request = TransportRequest(
      server.url("/fault", scheme: fault.phase == .handshake ? "https" : "http"),
      method: HTTPMethod(rawValue: cell.sending.rawValue),
      body: cell.sending.body,
      limits: TransportLimits(idle: .seconds(30), responseBytes: faultCase.responseBytes)
    )
    let log = TransportLog()
    let exchange = transport.start(request, telling: log.add)
    let expected = faultCase.verdict(for: cell.sending)

    if faultCase.goesOnAfterChunk, cell.sending != .head {
      await log.until { $0.contains { if case .chunk = $0 { true } else { false } } }
      await server.stallsReached()
      server.goOn()
    } else if expected == .failure(.timeout(.idle)) {
      await server.stallsReached()
      // What the client still does after that counts as a sign of life, and needs another round.
      while !log.isOver {
        scheduler.advance(by: 30)
        await Task.yield()
      }
      // The client closes what it gave up. To stop the server before that would be another fault. Where the server does
      // not read the request, the end of the connection cannot get past it.
      if fault.phase == .head || fault.phase == .body { await server.connectionsEnded() }
    }
    await log.end()

    #expect(Self.verdict(of: log) == expected, "\(cell): \(log.failure.map { "\($0)" } ?? "")")
    #expect(log.events.count(where: \.isEnd) == 1, "\(cell)")
    #expect(log.order.wholeMatch(of: /s?(hs?)?(cs?)*[ef]/) != nil, "\(cell): \(log.order)")
    #expect(log.heads.allSatisfy { $0.status >= 200 }, "\(cell)")
    exchange.cancel()
  }

  static func verdict(of log: TransportLog) -> FaultCase.Verdict {
    if let failure = log.failure { return .failure(failure.kind) }
    return .answer(log.heads.first?.status ?? 0)
  }
}
