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
    let exchange = ExchangeSubscription(request) { result in
      switch result {
      case .success(let response):
        _ = subscriber.receive(response)
        subscriber.receive(completion: .finished)
      case .failure(let failure):
        subscriber.receive(completion: .failure(failure))
      }
    }
    subscriber.receive(subscription: exchange)
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

  private let request: HTTPRequest
  private let lock = Lock()
  private var phase = Phase.ready
  /// What was sent last, where that is not the request as it is.
  private var changed: TransportRequest?
  /// The exchange of the present hop; `nil` until the transport has returned it.
  private var exchange: (any TransportExchange)?
  /// How many redirects were followed; events of the hops before are known by it.
  private var hop = 0
  private var head: ResponseHead?
  private var body = Data()
  private var start = Duration.zero
  /// Told once, unless it is cancelled before.
  private var whenDone: Completion?

  init(_ request: HTTPRequest, whenDone: @escaping Completion) {
    self.request = request
    self.whenDone = whenDone
  }

  var description: String { "Exchange" }

  private var client: ClientSettings.Shared { request.call.client }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let now = client.settings.time.elapsed
    let limited = request.deadline.map { self.limited(request.message, $0) }
    let begins = lock.withLock {
      guard phase == .ready else { return false }
      phase = .running
      changed = limited
      start = now
      return true
    }
    guard begins else { return }
    request.tell(.attemptBegan(request.attempt, limited ?? request.message))
    if let limited { send(limited, hop: 0) } else { send(request.message, hop: 0) }
  }

  func cancel() {
    _ = end(stopping: true)
  }

  private func send(_ message: TransportRequest, hop: Int) {
    let exchange = client.settings.transport.start(message) { [self] event in receive(event, of: hop) }
    let isCurrent = lock.withLock {
      guard isRunning(hop) else { return false }
      self.exchange = exchange
      return true
    }
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
    let redirects = client.settings.redirects
    guard redirects.concerns(status: head.status) else { return deliver(head, of: hop) }
    guard lock.withLock({ isRunning(hop) }) else { return }
    switch redirects.step(after: message, head, followed: hop, redaction: client.settings.redaction) {
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
    let isCurrent = lock.withLock {
      guard isRunning(hop) else { return false }
      self.head = head
      return true
    }
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
    let isWatched = request.call.isWatched
    var progress: (count: Int64, total: Int64?)?
    lock.withLock {
      guard isRunning(hop) else { return }
      // Most answers come in one piece, which need not be copied.
      if body.isEmpty { body = chunk } else { body += chunk }
      guard isWatched else { return }
      progress = (Int64(body.count), head?.headers["Content-Length"].flatMap { Int64($0) })
    }
    if let progress { request.tell(.downloaded(progress.count, of: progress.total)) }
  }

  private func finish(_ hop: Int) {
    lock.lock()
    guard isRunning(hop) else { return lock.unlock() }
    let (head, body, start) = (head, body, start)
    lock.unlock()
    guard let head else {
      return fail(.transport(.protocol), underlying: TransportFailure(.protocol, redirects: hop))
    }
    let response = HTTPResponse(
      head: head,
      body: body,
      receivedAt: client.settings.time.wallClock(),
      duration: client.settings.time.elapsed - start,
      attempt: request.attempt
    )
    if let failure = request.rejection(of: response) { return deliver(failure) }
    guard let whenDone = end() else { return }
    request.tell(.attemptSucceeded(request.attempt, response))
    whenDone(.success(response))
  }

  private var duration: Duration { client.settings.time.elapsed - lock.withLock { start } }

  private func fail(_ kind: NetworkFailure.Kind, underlying: any Error) {
    deliver(request.failure(kind, underlying: underlying, duration: duration))
  }

  private func deliver(_ failure: NetworkFailure) {
    guard let whenDone = end() else { return }
    request.tell(.attemptFailed(request.attempt, failure))
    whenDone(.failure(failure))
  }

  /// Ends it, and hands out whom to tell, to the first caller.
  private func end(stopping: Bool = false) -> Completion? {
    lock.lock()
    let rest = (exchange, whenDone, head, body)
    exchange = nil
    whenDone = nil
    head = nil
    body = Data()
    phase = .over
    lock.unlock()
    if stopping { rest.0?.cancel() }
    return rest.1
  }
}
