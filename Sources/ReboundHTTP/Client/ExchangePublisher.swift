import Combine
import Foundation
import Rebound
import StreamSupport

/// Sends one request over the transport, and publishes the whole answer if it is valid, or the head of a redirect.
///
/// Nothing is sent before a value is requested; cancelling stops the exchange.
struct ExchangePublisher: Publisher {
  typealias Output = HTTPResponse
  typealias Failure = NetworkFailure

  let request: HTTPRequest
  let client: ClientSettings.Shared

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    ExchangeSubscription(request, of: client).attach(subscriber)
  }
}

/// One exchange with a server under way, gathered to a whole answer.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
final class ExchangeSubscription: Subscription, CustomStringConvertible, @unchecked Sendable {
  typealias Completion = (Result<HTTPResponse, NetworkFailure>) -> Void

  private enum Phase {
    case ready
    case running
    case over
  }

  let request: HTTPRequest
  private let client: ClientSettings.Shared
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var phase = Phase.ready
  /// `nil` until the transport has returned it.
  @exclusivity(unchecked) private var exchange: (any TransportExchange)?
  @exclusivity(unchecked) private var head: ResponseHead?
  @exclusivity(unchecked) private var body = Data()
  /// Whether the body goes to the request's destination.
  @exclusivity(unchecked) private var isHandedOn = false
  /// What the exchange was told last.
  @exclusivity(unchecked) private var isPaused = false
  /// Whether a thread tells it, and whether that has to look again at what to tell.
  @exclusivity(unchecked) private var isPacing = false
  @exclusivity(unchecked) private var mustPaceAgain = false
  /// Told once, unless it is cancelled before; set before anything is requested.
  @exclusivity(unchecked) private var whenDone: Completion?

  init(_ request: HTTPRequest, of client: ClientSettings.Shared) {
    self.request = request
    self.client = client
  }

  /// Hands this to its one subscriber.
  func attach<S: Subscriber>(_ subscriber: S) where S.Input == HTTPResponse, S.Failure == NetworkFailure {
    whenDone = { result in
      switch result {
      case .success(let response):
        _ = subscriber.receive(response)
        subscriber.receive(completion: .finished)
      case .failure(let failure):
        subscriber.receive(completion: .failure(failure))
      }
    }
    subscriber.receive(subscription: self)
  }

  var description: String { "Exchange" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.lock()
    let begins = phase == .ready
    if begins { phase = .running }
    lock.unlock()
    guard begins else { return }
    if request.redirects == 0 { request.tell(.attemptBegan(request.attempt, request.message)) }
    let exchange = client.settings.transport.start(request.message) { [self] event in receive(event) }
    lock.lock()
    let isCurrent = isRunning
    if isCurrent { self.exchange = exchange }
    lock.unlock()
    // Over already, before the transport returned.
    if !isCurrent { exchange.cancel() } else { keepPace() }
  }

  func cancel() {
    lock.withLock { end() }.exchange?.cancel()
    request.destination?.interrupt {}
  }

  /// For use under the lock.
  private var isRunning: Bool { phase == .running }

  private func receive(_ event: TransportEvent) {
    switch event {
    case .sent(let count):
      guard lock.withLock({ isRunning }) else { return }
      request.tell(.uploaded(count, of: request.message.body.length))
    case .head(let head):
      receive(head)
    case .chunk(let chunk):
      receive(chunk)
    case .finished:
      finish()
    case .failed(let failure):
      fail(failure)
    }
  }

  private func receive(_ head: ResponseHead) {
    // Asked before the lock: it parses addresses.
    let isFollowed = request.isFollowed?(head) ?? false
    lock.lock()
    guard isRunning else { return lock.unlock() }
    guard isFollowed else {
      self.head = head
      lock.unlock()
      request.tell(.responded(head))
      return handOn(head)
    }
    let rest = end()
    lock.unlock()
    // Nobody wants the body of a redirect, which may be endless.
    rest.exchange?.cancel()
    rest.whenDone?(.success(response(head, Data())))
  }

  private func receive(_ chunk: Data) {
    lock.lock()
    guard isRunning else { return lock.unlock() }
    if let destination = request.destination {
      if isHandedOn {
        lock.unlock()
        destination.receive(chunk)
        let progress = destination.progress
        request.tell(.downloaded(progress.count, of: progress.total))
        return keepPace()
      }
      body += chunk.prefix(NetworkFailure.bodyLimit - body.count)
      let (isEnough, exchange) = (body.count == NetworkFailure.bodyLimit, exchange)
      lock.unlock()
      // All of a refusal that is kept; the limits that a body may go beyond would let it go on.
      guard isEnough else { return }
      exchange?.cancel()
      return finish()
    }
    // Most answers come in one piece, which need not be copied.
    if body.isEmpty { body = chunk } else { body += chunk }
    guard request.call.isWatched else { return lock.unlock() }
    let (count, total) = (Int64(body.count), head?.headers["Content-Length"].flatMap { Int64($0) })
    lock.unlock()
    request.tell(.downloaded(count, of: total))
  }

  // MARK: A body that goes elsewhere

  /// Begins to hand on the body, if it is one that is wanted.
  private func handOn(_ head: ResponseHead) {
    guard let destination = request.destination else { return }
    let answer = response(head, Data())
    guard destination.use(of: head) == .body, request.call.accepts(answer), !request.isPageInPlace(of: answer) else {
      return
    }
    lock.withLock { isHandedOn = true }
    do {
      try destination.begin(head) { [weak self] change in
        switch change {
        case .ready: self?.keepPace()
        case .failed(let error): self?.fail(keeping: error)
        }
      }
    } catch {
      fail(keeping: error)
    }
  }

  /// Lets the network wait while the destination is behind.
  ///
  /// One thread at a time tells the exchange: the disk is done on one and the network on another, and a pause that is
  /// overtaken by its resume would last for ever.
  private func keepPace() {
    guard let destination = request.destination else { return }
    lock.lock()
    let isMine = !isPacing
    isPacing = true
    mustPaceAgain = true
    lock.unlock()
    guard isMine else { return }
    while mayPace() {
      let isReady = destination.isReady
      lock.lock()
      let exchange = isHandedOn && isPaused == isReady ? exchange : nil
      if exchange != nil { isPaused = !isReady }
      lock.unlock()
      if isReady { exchange?.resume() } else { exchange?.pause() }
    }
  }

  /// Whether there is something to look at; if not, the next thread begins anew.
  private func mayPace() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    isPacing = mustPaceAgain
    mustPaceAgain = false
    return isPacing
  }

  private func fail(keeping error: any Error) {
    lock.lock()
    guard isRunning else { return lock.unlock() }
    let rest = end()
    lock.unlock()
    rest.exchange?.cancel()
    let answer = rest.head.map { response($0, Data()) }
    deliver(
      request.failure(keeping: answer, error, duration: client.settings.time.now - request.start),
      to: rest.whenDone
    )
  }

  /// The network is through; now the destination has its time.
  private func finishHandingOn(_ destination: any BodyDestination) {
    destination.finish { [self] result in
      if case .failure(let error) = result { return fail(keeping: error) }
      lock.lock()
      guard isRunning, let head else { return lock.unlock() }
      let rest = end()
      lock.unlock()
      let response = response(head, Data())
      request.tell(.attemptSucceeded(request.attempt, response))
      rest.whenDone?(.success(response))
    }
  }

  // MARK: The end

  private func finish() {
    lock.lock()
    guard isRunning else { return lock.unlock() }
    if isHandedOn, let destination = request.destination {
      lock.unlock()
      return finishHandingOn(destination)
    }
    let rest = end()
    lock.unlock()
    guard let head = rest.head else {
      return deliver(TransportFailure(.protocol), to: rest.whenDone)
    }
    let response = response(head, rest.body)
    if let failure = request.rejection(of: response) { return deliver(failure, to: rest.whenDone) }
    if request.destination != nil {
      // A valid status whose body is none that was asked for.
      return deliver(request.failure(.unexpectedContentType, response: response), to: rest.whenDone)
    }
    request.tell(.attemptSucceeded(request.attempt, response))
    rest.whenDone?(.success(response))
  }

  private func response(_ head: ResponseHead, _ body: Data) -> HTTPResponse {
    HTTPResponse(
      head: head,
      body: body,
      receivedAt: HTTPDate(since1970: client.settings.time.wallClock),
      duration: client.settings.time.now - request.start,
      attempt: request.attempt
    )
  }

  private func fail(_ failure: TransportFailure) {
    lock.lock()
    guard isRunning else { return lock.unlock() }
    let rest = end()
    lock.unlock()
    deliver(failure, to: rest.whenDone)
  }

  private func deliver(_ failure: TransportFailure, to whenDone: Completion?) {
    var failure = failure
    failure.redirects = request.redirects
    let duration = client.settings.time.now - request.start
    deliver(request.failure(.transport(failure.kind), underlying: failure, duration: duration), to: whenDone)
  }

  private func deliver(_ failure: NetworkFailure, to whenDone: Completion?) {
    guard let whenDone else { return }
    guard let destination = request.destination else { return tell(failure, to: whenDone) }
    // Whoever hears of it may go on at once with what has come.
    lock.withLock { self.whenDone = whenDone }
    destination.interrupt { [self] in
      lock.lock()
      let whenDone = self.whenDone
      self.whenDone = nil
      lock.unlock()
      if let whenDone { tell(failure, to: whenDone) }
    }
  }

  private func tell(_ failure: NetworkFailure, to whenDone: Completion) {
    request.tell(.attemptFailed(request.attempt, failure))
    whenDone(.failure(failure))
  }

  /// What there is until the end.
  private struct Rest {
    let exchange: (any TransportExchange)?
    let whenDone: Completion?
    let head: ResponseHead?
    let body: Data
  }

  /// Ends it, and hands out what is left: to the first caller, whom to tell.
  ///
  /// Called under the lock; nothing of it may go there.
  private func end() -> Rest {
    let rest = Rest(exchange: exchange, whenDone: whenDone, head: head, body: body)
    exchange = nil
    whenDone = nil
    head = nil
    body = Data()
    phase = .over
    return rest
  }
}
