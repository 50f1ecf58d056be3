import Foundation
import Rebound
import ReboundHTTP

/// How long it may take, and whom one cannot reach.
extension ContractPromise {
  static let ofLimits: [ContractPromise] =
    [
      ContractPromise("keeps the total limit, whatever moves meanwhile") { run in
        run.server.program("/", .stallInBody)
        let limits = TransportLimits(idle: .seconds(1000), total: .seconds(60))
        let transport = run.transport(run.scheduler.time)
        let request = TransportRequest(run.server.url(), limits: limits)
        let exchange = transport.start(request, telling: run.log.add)
        await run.log.until { $0.contains { if case .chunk = $0 { true } else { $0.isEnd } } }
        run.scheduler.advance(by: 59.999)
        try run.expect(!run.log.isOver, "it ended early\(run.words(of: run.log.failure))")
        run.scheduler.advance(by: 0.001)
        await run.log.end()
        try run.expect("the failure", run.log.failure?.kind, .timeout(.total))
        try run.expect("bytes that came", run.log.failure?.bytesReceived, 4)
        await run.server.connectionsEnded()
        exchange.cancel()
      },
      ContractPromise("lets a limit of zero pass at once") { run in
        run.server.program("/", .answer())
        let limits = TransportLimits(total: .zero)
        await run.send(TransportRequest(run.server.url(), limits: limits), in: run.scheduler.time)
        try run.expect("the failure", run.log.failure?.kind, .timeout(.total))
      },
      ContractPromise("says that nobody listens, and that nothing was sent") { run in
        let port = try RefusingPort()
        await run.send(TransportRequest(try address("http://127.0.0.1:\(port.port)/")))
        try run.expect("the failure", run.log.failure?.kind, .connect)
        try run.expect("whether nothing was sent", run.log.failure?.provesNothingWasSent, true)
      },
      ContractPromise("gives up on a port that does not answer, by the connect limit", .connectLimit) { run in
        try await run.knockInVain(expecting: .timeout(.connect))
        try run.expect("whether nothing was sent", run.log.failure?.provesNothingWasSent, true)
      },
      ContractPromise("gives up on a port that does not answer") { run in
        let endings: [TransportFailure.Kind] = [.timeout(.connect), .timeout(.idle)]
        let kind = try await run.knockInVain()
        try run.expect(endings.contains { $0 == kind }, "the failure: \(kind.map { "\($0)" } ?? "none")")
      },
    ] + unknownNames

  private static let unknownNames = [(Connectivity.online, TransportFailure.Kind.dns), (.offline, .offline)]
    .map { connectivity, expected in
      ContractPromise("says of an unknown name that it is \(expected.caseName) when the network is \(connectivity)") {
        run in
        let transport = run.transport(.system, ManualReachability(connectivity))
        let log = await run.send(TransportRequest(try address("http://no-such-host.invalid/")), over: transport)
        try run.expect("the failure", log.failure?.kind, expected)
        try run.expect("whether nothing was sent", log.failure?.provesNothingWasSent, true)
      }
    }

  private static func address(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw ContractRun.Problem(text: "'\(text)' is no address") }
    return url
  }
}

extension ContractRun {
  /// Sends a request to a port that does not answer, lets both limits pass, and returns what came of it.
  @discardableResult
  fileprivate func knockInVain(expecting kind: TransportFailure.Kind? = nil) async throws -> TransportFailure.Kind? {
    let port = try SilentPort()
    guard let url = URL(string: "http://127.0.0.1:\(port.port)/") else { return nil }
    let limits = TransportLimits(connect: .seconds(10), idle: .seconds(30))
    let exchange = transport(scheduler.time).start(TransportRequest(url, limits: limits), telling: log.add)
    scheduler.advance(by: 30)
    await log.end()
    exchange.cancel()
    if let kind { try expect("the failure", log.failure?.kind, kind) }
    return log.failure?.kind
  }
}
