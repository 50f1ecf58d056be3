import Foundation
import ReboundHTTP

/// What lies behind a handshake: TLS, and HTTP/2.
extension ContractPromise {
  static let behindTLS: [ContractPromise] = answers + floods + ofBreaks + ofFaultsBehindTLS + ofHTTP2

  private static let answers: [ContractPromise] = [
    ContractPromise("gets an answer over TLS", behind: .http1) { run in
      run.server.program("/", .answer())
      let listener = try await run.listener(before: run.server.port, .http1)
      await run.send(TransportRequest(try run.url(listener.port), limits: .none))
      try run.expectAnswer(of: "HTTP/1.1")
      try run.expect("requests", run.server.requests.count, 1)
    },
    ContractPromise("gets an answer over HTTP/2, where a server offers that", behind: .http2) { run in
      let server = try run.frames([[.head, .data("o"), .ping, .data("k", isLast: true)]])
      let listener = try await run.listener(before: server.port, .http2)
      await run.send(TransportRequest(try run.url(listener.port), limits: .none))
      try run.expectAnswer(of: "HTTP/2")
      try run.expect("requests", server.requestCount, 1)
    },
  ]

  private static let floods: [ContractPromise] = [FrameServer.Frame.pings(3_000), .settings(3_000)].map { frame in
    ContractPromise("has a name for a flood of frames that want an answer, or bears it: \(frame)", behind: .http2) {
      run in
      // Nothing comes behind it, so that one who bears it sees the connection end.
      let server = try run.frames([[frame]])
      let listener = try await run.listener(before: server.port, .http2)
      let exchange = run.transport().start(
        TransportRequest(try run.url(listener.port), limits: .none),
        telling: run.log.add
      )
      await server.floodsSent()
      server.stop()
      await run.log.end()
      exchange.cancel()
      let kind = run.log.failure?.kind
      try run.expect(
        kind == .reset || kind == .protocol,
        "the verdict: \(run.log.order)\(run.words(of: run.log.failure))"
      )
    }
  }

  private static let ofBreaks: [ContractPromise] = SecureFaultCase.all.flatMap { secureFault in
    ContractRun.SecureProtocol.allCases.flatMap { version in
      [false, true].map { isInBody -> ContractPromise in
        let place = isInBody ? "within the body" : "before the head"
        var promise = ContractPromise(
          "has the one verdict of a connection that \(secureFault) \(place), \(version.name) over TLS",
          behind: version
        ) { run in
          try await run.play(secureFault, version, isInBody: isInBody)
        }
        promise.secureFaultCase = secureFault
        return promise
      }
    }
  }

  /// What a server does to a head or a body is the same behind TLS; codings and statuses have nothing to do with it.
  private static let ofFaultsBehindTLS: [ContractPromise] = FaultCase.all.compactMap { faultCase -> ContractPromise? in
    let fault = faultCase.fault
    let isOfAnswer = fault.phase == .head || fault.phase == .body
    guard isOfAnswer, faultCase.feature == nil, !fault.name.hasPrefix("status ") else { return nil }
    var promise = ContractPromise("ends in the verdict of its fault behind TLS: \(fault)", behind: .http1) { run in
      let listener = try await run.listener(before: run.server.port, .http1)
      try await run.play(faultCase, .get, at: try run.url(listener.port, "/fault"))
    }
    promise.faultCase = faultCase
    return promise
  }

  private static let ofHTTP2: [ContractPromise] = HTTP2FaultCase.all.map { faultCase -> ContractPromise in
    var promise = ContractPromise(
      "has the one verdict of a server of HTTP/2 that \(faultCase)",
      behind: .http2
    ) { run in
      try await run.play(faultCase)
    }
    promise.http2FaultCase = faultCase
    return promise
  }

  private init(
    _ name: String,
    behind version: ContractRun.SecureProtocol,
    _ body: @escaping @Sendable (ContractRun) async throws -> Void
  ) {
    self.init(name, version == .http2 ? .http2 : .tls, body)
    isBehindTLS = true
  }
}

extension ContractRun {
  /// What is spoken over TLS.
  enum SecureProtocol: CaseIterable {
    case http1, http2

    var name: String { self == .http1 ? "HTTP/1.1" : "HTTP/2" }
    /// As ALPN has it.
    var offer: [String] { self == .http1 ? ["http/1.1"] : ["h2"] }
  }

  /// What speaks TLS for a server.
  fileprivate func listener(before port: UInt16, _ version: SecureProtocol) async throws -> any TLSListener {
    // Only a contract with a terminator has such cases.
    guard let terminator else { throw Problem(text: "nothing speaks TLS for the server") }
    let listener = try await terminator.listen(before: port, offering: version.offer)
    keep(listener)
    return listener
  }

  fileprivate func url(_ port: UInt16, _ path: String = "/") throws(Problem) -> URL {
    guard let url = URL(string: "https://127.0.0.1:\(port)\(path)") else { throw Problem(text: "no URL of \(path)") }
    return url
  }

  fileprivate func expectAnswer(of version: String) throws(Problem) {
    try expect("the status\(words(of: log.failure))", log.heads.map(\.status), [200])
    try expect("the body", log.body, Data("ok".utf8))
    // Not every transport is told.
    let spoken = log.heads.first?.httpVersion
    try expect(spoken == nil || spoken == version, "it spoke \(spoken ?? ""), not \(version)")
  }

  fileprivate func play(_ secureFault: SecureFaultCase, _ version: SecureProtocol, isInBody: Bool) async throws {
    let frames = try frames([isInBody ? [.head, .data("half"), .stall] : [.stall]])
    server.program("/", isInBody ? .stallInBody : .stallBeforeHead)
    let listener = try await listener(before: version == .http1 ? server.port : frames.port, version)
    let relay = try BreakingRelay(to: listener.port)
    keep(relay)
    let request = TransportRequest(try url(relay.port), method: .post, limits: .none)
    let exchange = transport().start(request, telling: log.add)
    switch version {
    case .http1: await server.stallsReached()
    case .http2: await frames.stallsReached()
    }
    if isInBody { await log.until { $0.contains { if case .chunk = $0 { true } else { $0.isEnd } } } }
    relay.breakAll(secureFault.fault)
    await log.end()
    exchange.cancel()
    try judge(isInBody ? secureFault.inBody : secureFault.beforeHead)
    try expect(log.failure?.provesNothingWasSent == false, "it claims that nothing was sent")
    try expect("requests", version == .http1 ? server.requests.count : frames.requestCount, 1)
  }

  fileprivate func play(_ faultCase: HTTP2FaultCase) async throws {
    let server = try frames(faultCase.answers)
    let listener = try await listener(before: server.port, .http2)
    let url = try url(listener.port)
    let order = TransportRequest(url, method: .post, body: .data(Data("order".utf8)), limits: .none)
    await send(faultCase.isOrder ? order : TransportRequest(url, limits: .none))
    let count = server.requestCount
    if let failure = log.failure {
      try expect(!failure.provesNothingWasSent, "it claims that nothing was sent")
      try expect(failure.isTransient, "it says that to try again is of no use")
    } else {
      try expectAnswer(of: "HTTP/2")
    }
    guard faultCase.maySendOnce, count == 1 else {
      try judge(faultCase.verdict)
      return try expect(
        faultCase.requestCounts.contains(count),
        "\(count) requests came, not \(faultCase.requestCounts)"
      )
    }
    try judge(.failure(.reset))
  }
}
