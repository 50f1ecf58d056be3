import Foundation
import ReboundHTTP
import StreamSupport

/// Passes everything on to another transport, and breaks its exchanges after so many bytes each.
final class KillingTransport: Transport {
  private struct State {
    var kills: [Int]
    var fetchedCount = 0
    var killCount = 0
  }

  private let transport: any Transport
  private let state: Locked<State>

  /// - Parameters:
  ///   - transport: What does the work.
  ///   - kills: After how many bytes of body each exchange breaks, in turn; those after are left alone.
  init(_ transport: any Transport, after kills: [Int]) {
    self.transport = transport
    state = Locked(State(kills: kills))
  }

  /// How many bytes of bodies have come from the network, until their exchange broke.
  var fetchedCount: Int { state.withLock { $0.fetchedCount } }
  var killCount: Int { state.withLock { $0.killCount } }

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    let limit = state.withLock { $0.kills.isEmpty ? Int.max : $0.kills.removeFirst() }
    let killed = KilledExchange(after: limit, receiver)
    killed.hold(
      transport.start(request) { [self] event in
        // On a busy machine the whole body may come before the exchange is known, and so before it can be told to stop.
        if case .chunk(let chunk) = event, !killed.isOver { state.withLock { $0.fetchedCount += chunk.count } }
        if killed.pass(event) { state.withLock { $0.killCount += 1 } }
      }
    )
    return killed
  }
}

private final class KilledExchange: TransportExchange {
  private struct State {
    var exchange: (any TransportExchange)?
    var left: Int
    var isOver = false
  }

  private let state: Locked<State>
  private let receiver: @Sendable (TransportEvent) -> Void

  init(after count: Int, _ receiver: @escaping @Sendable (TransportEvent) -> Void) {
    state = Locked(State(left: count))
    self.receiver = receiver
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func hold(_ exchange: any TransportExchange) {
    let isOver = state.withLock { state in
      state.exchange = exchange
      return state.isOver
    }
    if isOver { exchange.cancel() }
  }

  /// Hands on an event, or what is left of it before the kill; says whether it was killed now.
  func pass(_ event: TransportEvent) -> Bool {
    guard !state.withLock({ $0.isOver }) else { return false }
    guard case .chunk(let chunk) = event else {
      receiver(event)
      return false
    }
    let left = state.withLock { state in
      let left = state.left
      state.left -= min(chunk.count, left)
      return left
    }
    guard chunk.count >= left else {
      receiver(event)
      return false
    }
    if left > 0 { receiver(.chunk(chunk.prefix(left))) }
    cancel()
    receiver(.failed(TransportFailure(.truncated, detail: "killed")))
    return true
  }

  func cancel() {
    let exchange = state.withLock { state in
      state.isOver = true
      return state.exchange
    }
    exchange?.cancel()
  }

  func pause() { state.withLock { $0.exchange }?.pause() }

  func resume() { state.withLock { $0.exchange }?.resume() }
}
