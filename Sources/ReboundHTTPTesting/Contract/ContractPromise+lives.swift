import Foundation
import ReboundHTTP
import StreamSupport

/// Cancels, pauses, and who is let go of when.
extension ContractPromise {
  static let ofLives: [ContractPromise] =
    cancels + releases + [
      ContractPromise("makes the server wait during a pause", .backpressure) { run in
        // Far more than all buffers on the way hold.
        let count = 600 * 65_536
        let flood = Fault.Step.flood([UInt8](repeating: 46, count: 65_536), times: 600)
        run.server.program("/", Fault("late body", at: .body, [.send(Fault.head(length: count)), .stall, flood]))
        run.server.program("/other", .answer())
        let transport = run.transport(run.scheduler.time)
        let request = TransportRequest(run.server.url(), limits: TransportLimits(idle: .seconds(30)))
        let exchange = transport.start(request, telling: run.log.add)
        await run.log.until { !$0.isEmpty }
        await run.server.stallsReached()
        exchange.pause()
        run.server.goOn()
        run.scheduler.advance(by: 3600)
        // Who reads on has read much of it by the time that these are through.
        for _ in 0..<50 { _ = await run.send(TransportRequest(run.server.url("/other")), over: transport) }
        try run.expect(run.log.body.count < count / 10, "\(run.log.body.count) bytes came during the pause")
        try run.expect(!run.log.isOver, "it ended during the pause\(run.words(of: run.log.failure))")
        exchange.resume()
        await run.log.end()
        try run.expect(run.log.failure == nil, "it failed\(run.words(of: run.log.failure))")
        try run.expect("bytes that came", run.log.body.count, count)
      },
      ContractPromise("goes on after a pause") { run in
        run.server.program("/", .answer("more"))
        let cell = ExchangeCell()
        let exchange = run.transport().start(TransportRequest(run.server.url())) { [log = run.log] event in
          // First, or it could come behind the resumption.
          if case .head = event { cell.pause() }
          log.add(event)
        }
        cell.set(exchange)
        await run.log.until { !$0.isEmpty }
        exchange.resume()
        await run.log.end()
        try run.expect("the body", run.log.body, Data("more".utf8))
        exchange.cancel()
      },
      ContractPromise("lets go of the connection and the receiver at a cancel within a pause") { run in
        let flood = Fault.Step.flood([UInt8](repeating: 46, count: 65_536), times: 100)
        // Its end never comes, so the connection is of no use for another request.
        let head = Fault.Step.send(Fault.head(length: 101 * 65_536))
        run.server.program("/", Fault("body without its end", at: .body, [head, .stall, flood, .stall]))
        run.server.program("/other", .answer(fields: ["Connection: close"]))
        let transport = run.transport(run.scheduler.time)
        weak var held: TransportLog?
        do {
          let own = TransportLog()
          held = own
          let exchange = transport.start(TransportRequest(run.server.url())) { [log = run.log] event in
            own.add(event)
            log.add(event)
          }
          await run.log.until { !$0.isEmpty }
          await run.server.stallsReached()
          exchange.pause()
          run.server.goOn()
          // Who waits in a pause for more to be wanted does so by the time that these are through.
          for _ in 0..<10 { _ = await run.send(TransportRequest(run.server.url("/other")), over: transport) }
          exchange.cancel()
        }
        await run.server.connectionsEnded(11)
        let told = run.log.events.count
        run.scheduler.advance(by: 1000)
        while held != nil, !Task.isCancelled { await Task.yield() }
        try run.expect(held == nil, "the receiver is still held")
        try run.expect("events", run.log.events.count, told)
        try run.expect(!run.log.isOver, "it told an end\(run.words(of: run.log.failure))")
      },
      ContractPromise("finishes what is under way when it is released itself") { run in
        run.server.program("/", .stallInBody)
        var transport: (any Transport)? = run.transport()
        let exchange = transport?.start(TransportRequest(run.server.url(), limits: .none), telling: run.log.add)
        await run.server.stallsReached()
        transport = nil
        run.server.goOn()
        await run.log.end()
        try run.expect("the failure", run.log.failure?.kind, .truncated)
        exchange?.cancel()
      },
    ]

  private static let cancels = [Fault.stallOnAccept, .stallBeforeHead, .stallAfterHead, .stallInBody].map { fault in
    ContractPromise("tells nothing after a cancel, and closes the connection: \(fault)") { run in
      if fault.isOfConnection { run.server.programConnections(then: fault) } else { run.server.program("/", fault) }
      let transport = run.transport(run.scheduler.time)
      let exchange = transport.start(TransportRequest(run.server.url()), telling: run.log.add)
      await run.server.stallsReached()
      if fault == .stallInBody { await run.log.until { $0.count == 2 } }
      exchange.cancel()
      exchange.cancel()
      await run.server.connectionsEnded()
      let told = run.log.events.count
      run.scheduler.advance(by: 1000)
      try run.expect("events", run.log.events.count, told)
      try run.expect(!run.log.isOver, "it told an end\(run.words(of: run.log.failure))")
    }
  }

  private static let releases = [false, true].map { isCancelled in
    ContractPromise("lets go of the receiver at \(isCancelled ? "a cancel" : "the end")") { run in
      run.server.program("/", isCancelled ? .stallBeforeHead : .answer())
      let transport = run.transport(run.scheduler.time)
      weak var held: TransportLog?
      do {
        let own = TransportLog()
        held = own
        let exchange = transport.start(TransportRequest(run.server.url())) { [log = run.log] event in
          own.add(event)
          log.add(event)
        }
        if isCancelled {
          await run.server.stallsReached()
          exchange.cancel()
        } else {
          await run.log.end()
        }
      }
      // The call that told the end may not have returned yet; if it holds on, patience ends this.
      while held != nil, !Task.isCancelled { await Task.yield() }
      try run.expect(held == nil, "the receiver is still held")
    }
  }
}

/// Pauses an exchange, also before it is known.
package final class ExchangeCell: Sendable {
  private struct State {
    var exchange: (any TransportExchange)?
    var isPaused = false
  }

  private let state = Locked(State())

  package init() {}

  package func set(_ exchange: any TransportExchange) {
    let pauses = state.withLock { state in
      state.exchange = exchange
      return state.isPaused
    }
    if pauses { exchange.pause() }
  }

  package func pause() {
    let exchange = state.withLock { state in
      state.isPaused = true
      return state.exchange
    }
    exchange?.pause()
  }
}
