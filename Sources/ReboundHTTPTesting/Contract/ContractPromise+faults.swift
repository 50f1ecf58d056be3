import Foundation
import ReboundHTTP

/// Every fault with every kind of request.
extension ContractPromise {
  static let ofFaults: [ContractPromise] = FaultCase.all.flatMap { faultCase in
    faultCase.sendings.map { sending in
      var promise = ContractPromise("ends in the verdict of its fault: \(faultCase.fault), \(sending.rawValue)") {
        run in
        try await run.play(faultCase, sending)
      }
      promise.feature = faultCase.feature
      promise.faultCase = faultCase
      promise.sending = sending
      return promise
    }
  }
}

extension ContractRun {
  /// - Parameter url: Where the server is to be asked, if not at its own address.
  func play(_ faultCase: FaultCase, _ sending: FaultCase.Sending, at url: URL? = nil) async throws {
    let fault = faultCase.fault
    if fault.isOfConnection { server.programConnections(then: fault) } else { server.program("/fault", fault) }
    let request = TransportRequest(
      url ?? server.url("/fault", scheme: fault.phase == .handshake ? "https" : "http"),
      method: HTTPMethod(rawValue: sending.rawValue),
      body: sending.body,
      limits: TransportLimits(idle: .seconds(30), responseBytes: faultCase.responseBytes)
    )
    let exchange = transport(scheduler.time).start(request, telling: log.add)
    let expected = faultCase.verdict(for: sending)
    if faultCase.goesOnAfterChunk, sending != .head {
      await log.until { $0.contains { if case .chunk = $0 { true } else { $0.isEnd } } }
      await server.stallsReached()
      server.goOn()
    } else if expected == .failure(.timeout(.idle)) {
      await outwait(fault)
    }
    await log.end()
    exchange.cancel()
    try judge(expected, faultCase.tolerated)
  }

  /// Lets the idle limit pass.
  private func outwait(_ fault: Fault) async {
    await server.stallsReached()
    // What the client still does after that counts as a sign of life, and needs another round.
    while !log.isOver, !Task.isCancelled {
      scheduler.advance(by: 30)
      await Task.yield()
    }
    // The client closes what it gave up. To stop the server before that would be another fault. Where the server does not
    // read the request, the end of the connection cannot get past it.
    if fault.phase == .head || fault.phase == .body { await server.connectionsEnded() }
  }

  func judge(_ expected: FaultCase.Verdict, _ tolerated: [FaultCase.Verdict] = []) throws(Problem) {
    let verdict =
      log.failure.map { FaultCase.Verdict.failure($0.kind) } ?? .answer(log.heads.first?.status ?? 0)
    try expect(
      verdict == expected || tolerated.contains(verdict),
      "the verdict: \(verdict), not \(expected)\(words(of: log.failure))"
    )
    try expect("ends", log.events.count(where: \.isEnd), 1)
    try expect(log.order.wholeMatch(of: /s?(hs?)?(cs?)*[ef]/) != nil, "the events are in no order")
    try expect(log.heads.allSatisfy { $0.status >= 200 }, "an informational answer is told")
  }
}
