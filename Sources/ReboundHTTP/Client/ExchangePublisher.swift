import Combine
import Foundation
import Rebound
import StreamSupport

/// Sends one attempt, follows redirects, and publishes the whole answer if it is valid.
///
/// Nothing is sent before a value is requested; cancelling stops the exchange.
struct ExchangePublisher: Publisher {
  typealias Output = HTTPResponse
  typealias Failure = NetworkFailure

  let request: HTTPRequest

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    ExchangeSubscription(request).attach(subscriber)
  }
}

/// One attempt under way.
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
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var phase = Phase.ready
  /// What was sent last, where that is not the request as it is.
  @exclusivity(unchecked) private var changed: TransportRequest?
  /// The exchange of the present hop; `nil` until the transport has returned it.
  @exclusivity(unchecked) private var exchange: (any TransportExchange)?
  /// How many redirects were followed; events of the hops before are known by it.
  @exclusivity(unchecked) private var hop = 0
  @exclusivity(unchecked) private var head: ResponseHead?
  @exclusivity(unchecked) private var body = Data()
  @exclusivity(unchecked) private var start = Duration.zero
  /// Told once, unless it is cancelled before; set before anything is requested.
  @exclusivity(unchecked) private var whenDone: Completion?

  init(_ request: HTTPRequest) {
    self.request = request
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

  private var client: ClientSettings.Shared { request.call.client }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let now = client.settings.time.now
    lock.lock()
    let begins = phase == .ready
    if begins {
      phase = .running
      start = now
    }
    lock.unlock()
    guard begins else { return }
    guard let deadline = request.deadline else { return begin(with: request.message) }
    let message = limited(request.message, deadline)
    lock.lock()
    changed = message
    lock.unlock()
    begin(with: message)
  }

  private func begin(with message: TransportRequest) {
    request.tell(.attemptBegan(request.attempt, message))
    send(message, hop: 0)
  }

  func cancel() {
    lock.lock()
    let rest = end()
    lock.unlock()
    rest.exchange?.cancel()
  }

  private func send(_ message: TransportRequest, hop: Int) {
    let exchange = client.settings.transport.start(message) { [self] event in receive(event, of: hop) }
    lock.lock()
    let isCurrent = isRunning(hop)
    if isCurrent { self.exchange = exchange }
    lock.unlock()
    // Over already, or on at another address, before the transport returned.
    if !isCurrent { exchange.cancel() }
  }

  private func receive(_ event: TransportEvent, of hop: Int) {
    switch event {
    case .sent(let count):
      guard lock.withLock({ isRunning(hop) }) else { return }
      request.tell(.uploaded(count, of: message.body.length))
    case .head(let head):
      receive(head, of: hop)
    case .chunk(let chunk):
      receive(chunk, of: hop)
    case .finished:
      finish(hop)
    case .failed(var failure):
      guard lock.withLock({ isRunning(hop) }) else { return }
      failure.redirects = hop
      fail(.transport(failure.kind), underlying: failure)
    }
  }

  /// The message with no more time than is left, as transport and server get to know it.
  private func limited(_ message: TransportRequest, _ deadline: Deadline) -> TransportRequest {
    var message = message
    let left = deadline.remaining
    // Limits that the request itself has do not grow, however often it is sent.
    message.limits.total = request.message.limits.total.map { min($0, left) } ?? left
    if let field = client.settings.deadlineHeader { message.headers[field] = "\(Int64(left.inSeconds * 1_000))m" }
    return message
  }

  /// What was sent last.
  private var message: TransportRequest { lock.withLock { changed } ?? request.message }

  /// Whether it runs, and is still at this hop; for use under the lock.
  private func isRunning(_ hop: Int) -> Bool { phase == .running && self.hop == hop }

  private func receive(_ head: ResponseHead, of hop: Int) {
    guard client.settings.redirects.concerns(status: head.status) else { return deliver(head, of: hop) }
    redirect(head, of: hop)
  }

  private func redirect(_ head: ResponseHead, of hop: Int) {
    guard lock.withLock({ isRunning(hop) }) else { return }
    switch client.settings.redirects.step(after: message, head, followed: hop) {
    case .deliver:
      deliver(head, of: hop)
    case .tooMany:
      let exchange = lock.withLock { self.exchange }
      fail(.transport(.tooManyRedirects), underlying: TransportFailure(.tooManyRedirects, redirects: hop))
      exchange?.cancel()
    case .follow(let redirected):
      follow(request.deadline.map { limited(redirected, $0) } ?? redirected, after: head, of: hop)
    }
  }

  private func deliver(_ head: ResponseHead, of hop: Int) {
    lock.lock()
    let isCurrent = isRunning(hop)
    if isCurrent { self.head = head }
    lock.unlock()
    if isCurrent { request.tell(.responded(head)) }
  }

  private func follow(_ next: TransportRequest, after head: ResponseHead, of hop: Int) {
    lock.lock()
    guard isRunning(hop) else { return lock.unlock() }
    let last = exchange
    exchange = nil
    self.hop = hop + 1
    changed = next
    lock.unlock()
    last?.cancel()
    request.tell(.redirected(status: head.status, to: next.url))
    send(next, hop: hop + 1)
  }

  private func receive(_ chunk: Data, of hop: Int) {
    lock.lock()
    guard isRunning(hop) else { return lock.unlock() }
    // Most answers come in one piece, which need not be copied.
    if body.isEmpty { body = chunk } else { body += chunk }
    guard request.call.isWatched else { return lock.unlock() }
    let (count, total) = (Int64(body.count), head?.headers["Content-Length"].flatMap { Int64($0) })
    lock.unlock()
    request.tell(.downloaded(count, of: total))
  }

  private func finish(_ hop: Int) {
    lock.lock()
    guard isRunning(hop) else { return lock.unlock() }
    let start = start
    let rest = end()
    lock.unlock()
    let duration = client.settings.time.now - start
    guard let head = rest.head else {
      let failure = TransportFailure(.protocol, redirects: hop)
      return deliver(request.failure(.transport(.protocol), underlying: failure, duration: duration), to: rest.whenDone)
    }
    let response = HTTPResponse(
      head: head,
      body: rest.body,
      receivedAt: HTTPDate(since1970: client.settings.time.wallClock),
      duration: duration,
      attempt: request.attempt
    )
    if let failure = request.rejection(of: response) { return deliver(failure, to: rest.whenDone) }
    request.tell(.attemptSucceeded(request.attempt, response))
    rest.whenDone?(.success(response))
  }

  private func fail(_ kind: NetworkFailure.Kind, underlying: any Error) {
    lock.lock()
    let start = start
    let rest = end()
    lock.unlock()
    let duration = client.settings.time.now - start
    deliver(request.failure(kind, underlying: underlying, duration: duration), to: rest.whenDone)
  }

  private func deliver(_ failure: NetworkFailure, to whenDone: Completion?) {
    guard let whenDone else { return }
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
