import Combine
import Foundation
import Rebound
import StreamSupport

/// One connection of an event stream: first it is opened, then its events are read as they are asked for.
///
/// While events wait that nobody has asked for, the transport is paused.
final class EventReader: Sendable {
  typealias WhenOpened = (Result<HTTPResponse, NetworkFailure>) -> Void

  struct Sink {
    let receive: (ServerSentEvent) -> Subscribers.Demand
    let end: (Subscribers.Completion<NetworkFailure>) -> Void
  }

  private struct State: Drained {
    var whenOpened: WhenOpened?
    var exchange: (any TransportExchange)?
    var isOver = false
    var head: ResponseHead?
    /// The body of an answer that is no stream.
    var refusal: Data?
    /// Ends the wait for more of it.
    var refusalTimer: (any Cancellable)?
    var parser: EventStreamParser
    var waiting: ArraySlice<ServerSentEvent> = []
    var end: Subscribers.Completion<NetworkFailure>?
    var owed = Subscribers.Demand.none
    var sink: Sink?
    var loop = DrainLoop()
    /// Who tells the exchange to pause or to go on, and what it was told last.
    var pacing = DrainLoop()
    var isPaused = false

    mutating func takeNext() -> Delivery? {
      guard let sink else { return nil }
      if owed > .none, let event = waiting.popFirst() {
        owed -= 1
        return .event(event, sink)
      }
      guard waiting.isEmpty, let end else { return nil }
      (self.sink, self.end) = (nil, nil)
      return .end(end, sink)
    }

    mutating func takePace() -> (exchange: any TransportExchange, isPaused: Bool)? {
      let mustPause = !waiting.isEmpty
      guard let exchange, mustPause != isPaused else { return nil }
      isPaused = mustPause
      return (exchange, isPaused)
    }
  }

  private enum Delivery {
    case event(ServerSentEvent, Sink)
    case end(Subscribers.Completion<NetworkFailure>, Sink)
  }

  /// How long the body of an answer that is no stream may take to come; it may be one that never ends.
  private static let refusalLimit = Duration.seconds(10)

  private let request: HTTPRequest
  private let memory: StreamMemory
  private let state: Locked<State>

  init(_ request: HTTPRequest, _ memory: StreamMemory) {
    self.request = request
    self.memory = memory
    state = Locked(State(parser: EventStreamParser(lastEventID: memory.lastEventID)))
  }

  /// Sends the request, and tells once whether there is a stream.
  func open(over transport: any Transport, whenOpened: @escaping WhenOpened) {
    let begins = state.withLock { state in
      guard !state.isOver else { return false }
      state.whenOpened = whenOpened
      return true
    }
    guard begins else { return }
    request.tell(.attemptBegan(request.attempt, request.message))
    let exchange = transport.start(request.message) { [self] event in receive(event) }
    let isOver = state.withLock { state in
      if !state.isOver { state.exchange = exchange }
      return state.isOver
    }
    if isOver { exchange.cancel() } else { keepPace() }
  }

  /// Begins to read; called once, after it is open.
  func read(into sink: Sink) {
    deliver { $0.sink = sink }
  }

  func ask(for demand: Subscribers.Demand) {
    deliver { $0.owed += demand }
  }

  func cancel() {
    let rest = state.withLock { state in
      let rest = state
      state.isOver = true
      (state.whenOpened, state.exchange, state.sink) = (nil, nil, nil)
      (state.waiting, state.end, state.refusalTimer) = ([], nil, nil)
      return rest
    }
    rest.exchange?.cancel()
    rest.refusalTimer?.cancel()
  }

  // MARK: What the transport tells

  private func receive(_ event: TransportEvent) {
    switch event {
    case .sent: break
    case .head(let head): receive(head)
    case .chunk(let chunk): receive(chunk)
    case .finished: finish()
    case .failed(let failure): fail(request.failure(.transport(failure.kind), underlying: failure))
    }
  }

  private func receive(_ head: ResponseHead) {
    guard !state.withLock({ $0.isOver }) else { return }
    request.tell(.responded(head))
    let answer = HTTPResponse(
      head: head,
      receivedAt: HTTPDate(since1970: request.time.wallClock),
      attempt: request.attempt
    )
    // With 204 the server says that there will be no more events.
    let isStream = head.status == 204 || (head.status == 200 && answer.mediaType == "text/event-stream")
    let whenOpened: WhenOpened? = state.withLock { state in
      state.head = head
      guard isStream else {
        state.refusal = Data()
        return nil
      }
      let whenOpened = state.whenOpened
      state.whenOpened = nil
      return whenOpened
    }
    if !isStream { limitRefusal() }
    whenOpened?(.success(answer))
  }

  /// Has what has come of a refusal by then count as all of it.
  private func limitRefusal() {
    let timer = request.time.after(Self.refusalLimit) { [weak self] in self?.finish() }
    let isOver = state.withLock { state in
      if !state.isOver { state.refusalTimer = timer }
      return state.isOver
    }
    if isOver { timer.cancel() }
  }

  private func receive(_ chunk: Data) {
    var (isTooLong, isRefused) = (false, false)
    let parser: EventStreamParser? = state.withLock { state in
      if let refusal = state.refusal {
        let kept = refusal + chunk.prefix(NetworkFailure.bodyLimit - refusal.count)
        state.refusal = kept
        isRefused = kept.count == NetworkFailure.bodyLimit
        return nil
      }
      do throws(EventStreamParser.TooLong) {
        state.waiting += try state.parser.events(in: chunk)
      } catch {
        // They count as received: nobody would send them again.
        state.waiting += error.before
        isTooLong = true
      }
      return state.parser
    }
    if let parser { memory.learn(parser) }
    // All of a refusal that is kept; no limit would ever end the rest.
    if isRefused { return finish() }
    if isTooLong { return fail(request.failure(.transport(.tooLarge), underlying: TransportFailure(.tooLarge))) }
    // Where somebody else delivers, that may take long for what is there already.
    if !deliver() { keepPace() }
  }

  private func finish() {
    let (head, refusal) = state.withLock { ($0.head, $0.refusal) }
    if head?.status == 204 {
      deliver { ($0.isOver, $0.end, $0.exchange) = (true, .finished, nil) }
      return
    }
    guard let head, let refusal else {
      // The server has closed the stream, or somebody in between; whoever listens wants to go on.
      let closed = TransportFailure(.truncated, detail: "the stream was closed")
      return fail(request.failure(.transport(.truncated), underlying: closed))
    }
    let answer = HTTPResponse(
      head: head,
      body: refusal,
      receivedAt: HTTPDate(since1970: request.time.wallClock),
      attempt: request.attempt
    )
    let type = UnexpectedContentType(found: answer.mediaType, allowed: ["text/event-stream"])
    fail(
      request.rejection(of: answer)
        ?? request.failure(.unexpectedContentType, response: answer, underlying: type)
    )
  }

  private func fail(_ failure: NetworkFailure) {
    var failure = failure
    failure.retryAfter = failure.retryAfter ?? memory.retry
    let rest: (whenOpened: WhenOpened?, exchange: (any TransportExchange)?, timer: (any Cancellable)?)?
    rest = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.end = .failure(failure)
      let rest = (state.whenOpened, state.exchange, state.refusalTimer)
      (state.whenOpened, state.exchange, state.refusalTimer) = (nil, nil, nil)
      return rest
    }
    guard let (whenOpened, exchange, timer) = rest else { return }
    timer?.cancel()
    exchange?.cancel()
    request.tell(.attemptFailed(request.attempt, failure))
    if let whenOpened { whenOpened(.failure(failure)) } else { deliver() }
  }

  // MARK: What is read

  /// Hands over what was asked for, one thread at a time, and has the network wait for what was not.
  ///
  /// - Returns: Whether this thread did, and not another, or a frame further up.
  @discardableResult
  private func deliver(after change: (inout State) -> Void = { _ in }) -> Bool {
    let isMine = state.withLock { state in
      change(&state)
      return state.loop.enter()
    }
    guard isMine else { return false }
    state.drainEntered { delivery in
      switch delivery {
      case .event(let event, let sink):
        let more = sink.receive(event)
        state.withLock { $0.owed += more }
      case .end(let end, let sink): sink.end(end)
      }
    }
    keepPace()
    return true
  }

  /// Pauses or resumes the exchange; one thread at a time, since a pause that its resume overtakes would last.
  private func keepPace() {
    guard state.withLock({ $0.pacing.enter() }) else { return }
    while let (exchange, isPaused) = state.withLock({ $0.pacing.next($0.takePace()) }) {
      if isPaused { exchange.pause() } else { exchange.resume() }
    }
  }
}

/// What a stream remembers from one connection to the next.
final class StreamMemory: Sendable {
  private struct State {
    var id = ""
    var pause: Duration?
  }

  private let state = Locked(State())

  var lastEventID: String { state.withLock { $0.id } }
  var retry: Duration? { state.withLock { $0.pause } }

  func learn(_ parser: EventStreamParser) {
    state.withLock { state in
      state.id = parser.lastEventID
      state.pause = parser.retry ?? state.pause
    }
  }
}
