import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import StreamSupport

/// Sends requests over a ``SimulatedNetwork``.
struct SimulatedTransport: Transport {
  let network: SimulatedNetwork
  let client: String

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    // Each with a timer of its own: whose limit passes first, of two at the same moment, is a choice of the schedule.
    let exchange = OngoingExchange(request.limits, ExchangeDeadlines(network.time), telling: receiver)
    let connection = SimulatedConnection(network, client, request, exchange)
    network.add(connection)
    exchange.begin(on: connection)
    connection.begin()
    return exchange
  }
}

/// One exchange of a ``SimulatedNetwork``: the request goes there in one message, the answer comes back in several.
final class SimulatedConnection: ExchangeCarrier, Sendable {
  private struct State: Drained {
    /// What has arrived and has not been told.
    var inbox = Queue<SimulatedPart>()
    var loop = DrainLoop()
    var isPaused = false
    /// Whether the client takes nothing any more.
    var isOver = false
    /// Whether the connection stands, or did.
    var isOpen = false
    /// Whether the server's process has ended since the connection was begun.
    var isBroken = false
    /// When the last message back arrives that was sent so far.
    var lastArrival: Duration?
    /// What brings the client the next message.
    var timer: OneShot?
    var work: Task<Void, Never>?
    /// Whether the request is on its way, or the server at work on it: that goes on without a client.
    var isServed = false

    mutating func takeNext() -> SimulatedPart? { isPaused || isOver ? nil : inbox.popFirst() }
  }

  /// Counts the connections of the network.
  let number: Int
  let way: SimulatedNetwork.Way
  private let network: SimulatedNetwork
  /// As it was named.
  private let client: String
  private let request: TransportRequest
  private let exchange: OngoingExchange
  private let state = Locked(State())

  init(
    _ network: SimulatedNetwork,
    _ client: String,
    _ request: TransportRequest,
    _ exchange: OngoingExchange
  ) {
    self.network = network
    self.client = client
    way = SimulatedNetwork.Way(from: client, to: request.url.host ?? "")
    self.request = request
    self.exchange = exchange
    number = network.nextNumber()
  }

  // MARK: The way there

  func begin() {
    let body: Data
    do { body = try Self.read(request.body) } catch {
      return deliver(.failure(TransportFailure(.body, isUnsent: true, underlying: error)))
    }
    let fault = network.drawFault(on: way)
    if let fault { note("\(fault.rawValue)") }
    guard let opened = roundTrip() else { return note(Self.noWay) }
    guard let server = network.server(way.to) else { return fail(.dns, at: opened) }
    guard server.handler != nil, fault != .refused else { return fail(.connect, at: opened) }
    at(opened, orNote: Self.noWay) { connection in
      let isRefused = connection.state.withLock { state in
        state.isOpen = !state.isBroken
        return state.isBroken
      }
      if isRefused { connection.deliver(Self.unsent(.connect)) } else { connection.send(body, fault) }
    }
  }

  /// When a connection stands that is begun now; `nil` if nothing comes back.
  private func roundTrip() -> SimulatedNetwork.Transmission? {
    guard let there = network.send(0, on: way), let back = network.send(0, on: way.back) else { return nil }
    let opened = there.arrival + back.arrival - network.time.now
    return SimulatedNetwork.Transmission(way: way, arrival: opened, partitionCount: there.partitionCount)
  }

  private func send(_ body: Data, _ fault: SimulatedFault?) {
    exchange.connected()
    let sent = SimulatedRequest(
      client: client,
      url: request.url,
      method: request.method,
      headers: request.headers,
      body: body
    )
    guard fault != .lostRequest, let transmission = network.send(sent.size, on: way) else {
      return note("the request is lost")
    }
    state.withLock { $0.isServed = true }
    // Not stopped when the client goes: it is on its way.
    let journey = OneShot { [self] in
      if !body.isEmpty { exchange.sent(Int64(body.count)) }
      arrive(sent, transmission, fault)
    }
    start(journey, at: transmission.arrival)
  }

  // MARK: At the server

  private func arrive(_ sent: SimulatedRequest, _ transmission: SimulatedNetwork.Transmission, _ fault: SimulatedFault?)
  {
    guard !network.isLost(transmission) else {
      note("the request is lost")
      return leave()
    }
    if fault == .resetBeforeRequest { return answer([.failure(TransportFailure(.reset))]) }
    if fault == .unavailable { return answer(SimulatedResponse.status(503).parts(for: request) + [.end]) }
    guard let handler = network.server(way.to)?.handler, !state.withLock({ $0.isBroken }) else {
      return answer([.failure(TransportFailure(.reset))])
    }
    network.countRequest()
    let work = Task {
      let response = try? await handler(sent)
      // Otherwise the process has ended meanwhile.
      if !Task.isCancelled { answer(with: response, fault) }
    }
    let isBroken = state.withLock { state in
      if state.isServed { state.work = work }
      return state.isBroken
    }
    if isBroken { work.cancel() }
  }

  private func answer(with response: SimulatedResponse?, _ fault: SimulatedFault?) {
    guard let response, fault != .resetBeforeAnswer else { return answer([.failure(TransportFailure(.reset))]) }
    if fault == .lostAnswer { return leave() }
    let parts = response.parts(for: request)
    guard fault == .truncated, parts.count > 1 else { return answer(parts + [.end]) }
    answer(parts.dropLast() + [.failure(TransportFailure(.reset))])
  }

  /// The server's process has ended: a connection that does not stand yet is refused.
  func breakOff() {
    let (work, isOpen) = state.withLock { state in
      state.isBroken = true
      return (state.work, state.isOpen)
    }
    guard isOpen else { return }
    work?.cancel()
    answer([.failure(TransportFailure(.reset))])
  }

  // MARK: The way back

  private struct Message {
    let part: SimulatedPart
    let transmission: SimulatedNetwork.Transmission
  }

  /// Sends messages back, one right behind the other, and all behind those that were sent before.
  private func answer(_ parts: [SimulatedPart]) {
    var messages: [Message] = []
    // A little later: what comes at the same moment comes in any order.
    var earliest = state.withLock { $0.lastArrival }.map { $0 + .nanoseconds(1) } ?? .zero
    for part in parts {
      guard let transmission = network.send(part.size, on: way.back, notBefore: earliest) else {
        note(Self.lostAnswer)
        break
      }
      messages.append(Message(part: part, transmission: transmission))
      earliest = transmission.arrival
    }
    state.withLock { $0.lastArrival = messages.last?.transmission.arrival ?? $0.lastArrival }
    leave()
    bring(messages[...])
  }

  private func bring(_ messages: ArraySlice<Message>) {
    guard let next = messages.first else { return }
    at(next.transmission, orNote: Self.lostAnswer) { connection in
      connection.deliver(next.part)
      connection.bring(messages.dropFirst())
    }
  }

  private func fail(_ kind: TransportFailure.Kind, at transmission: SimulatedNetwork.Transmission) {
    at(transmission, orNote: Self.noWay) { $0.deliver(Self.unsent(kind)) }
  }

  private static func unsent(_ kind: TransportFailure.Kind) -> SimulatedPart {
    .failure(TransportFailure(kind, isUnsent: true))
  }

  // MARK: At the client

  private func deliver(_ part: SimulatedPart) {
    tell { if !$0.isOver { $0.inbox.append(part) } }
  }

  private func tell(after change: (inout State) -> Void) {
    state.drain(after: change) { part in
      switch part {
      case .head(let head): exchange.receive(head)
      case .chunk(let data): exchange.receive(data)
      case .end:
        end()
        exchange.finish()
      case .failure(let failure):
        end()
        exchange.fail(failure)
      }
    }
  }

  func pause() { state.withLock { $0.isPaused = true } }

  func resume() {
    tell { $0.isPaused = false }
  }

  func stop() { end() }

  /// The client takes nothing any more; the server goes on with what it has begun.
  private func end() {
    let timer = state.withLock { state in
      state.isOver = true
      state.inbox = Queue()
      defer { state.timer = nil }
      return state.timer
    }
    timer?.cancel()
    leaveIfDone()
  }

  /// The server is through with it.
  private func leave() {
    state.withLock { state in
      state.isServed = false
      state.work = nil
    }
    leaveIfDone()
  }

  private func leaveIfDone() {
    if state.withLock({ $0.isOver && !$0.isServed }) { network.remove(self) }
  }

  // MARK: Time

  /// Does something when a message arrives at the client, or notes that it is lost.
  private func at(
    _ transmission: SimulatedNetwork.Transmission,
    orNote loss: String,
    _ action: @escaping @Sendable (SimulatedConnection) -> Void
  ) {
    let timer = OneShot { [self] in if network.isLost(transmission) { note(loss) } else { action(self) } }
    // Before it is set, or it could ring meanwhile and take the place of the one that comes next.
    let isOver = state.withLock { state in
      if !state.isOver { state.timer = timer }
      return state.isOver
    }
    if !isOver { start(timer, at: transmission.arrival) }
  }

  /// Sets a timer, which holds what the source of time has given it: to let go of that may be to cancel it.
  private func start(_ timer: OneShot, at moment: Duration) {
    timer.keep(network.time.after(moment - network.time.now) { timer.fire() })
  }

  private static let noWay = "no way there"
  private static let lostAnswer = "the answer is lost"

  private func note(_ text: String) {
    Simulation.note("\(client) → \(way.to), connection \(number): \(text)")
  }

  private static func read(_ body: TransportBody) throws -> Data {
    let reader = try body.open()
    var all = Data()
    while case let piece = try reader.read(upTo: 65_536), !piece.isEmpty { all += piece }
    return all
  }
}
