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
  let transport: any Transport
  let redirects: RedirectPolicy
  var deadlineHeader: String?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let subscription = ExchangeSubscription(self) { result in
      switch result {
      case .success(let response):
        _ = subscriber.receive(response)
        subscriber.receive(completion: .finished)
      case .failure(let failure):
        subscriber.receive(completion: .failure(failure))
      }
    }
    subscriber.receive(subscription: subscription)
  }
}

/// One attempt under way.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
private final class ExchangeSubscription: Subscription, CustomStringConvertible, @unchecked Sendable {
  private struct Running {
    var message: TransportRequest
    /// The exchange of the present hop; `nil` until the transport has returned it.
    var exchange: (any TransportExchange)?
    /// How many redirects were followed; events of the hops before are known by it.
    var hop = 0
    var head: ResponseHead?
    var body = Data()
  }

  private enum Phase {
    case ready
    case running(Running)
    case over
  }

  private let request: HTTPRequest
  private let transport: any Transport
  private let redirects: RedirectPolicy
  private let deadlineHeader: String?
  private let lock = Lock()
  private var phase = Phase.ready
  /// Told once, unless it is cancelled before.
  private var whenDone: ((Result<HTTPResponse, NetworkFailure>) -> Void)?
  private var start = Duration.zero

  init(_ recipe: ExchangePublisher, whenDone: @escaping (Result<HTTPResponse, NetworkFailure>) -> Void) {
    request = recipe.request
    transport = recipe.transport
    redirects = recipe.redirects
    deadlineHeader = recipe.deadlineHeader
    self.whenDone = whenDone
  }

  var description: String { "Exchange" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let now = request.call.time.elapsed
    let message = limited(request.message)
    let begins = lock.withLock {
      guard case .ready = phase else { return false }
      phase = .running(Running(message: message))
      start = now
      return true
    }
    guard begins else { return }
    request.tell(.attemptBegan(request.attempt, message))
    send(message, hop: 0)
  }

  func cancel() {
    let (exchange, whenDone) = end()
    exchange?.cancel()
    withExtendedLifetime(whenDone) {}
  }

  private func send(_ message: TransportRequest, hop: Int) {
    let exchange = transport.start(message) { [self] event in receive(event, of: hop) }
    let isCurrent = lock.withLock {
      guard case .running(var running) = phase, running.hop == hop else { return false }
      running.exchange = exchange
      phase = .running(running)
      return true
    }
    // Over already, or on at another address, before the transport returned.
    if !isCurrent { exchange.cancel() }
  }

  private func receive(_ event: TransportEvent, of hop: Int) {
    switch event {
    case .sent(let count):
      guard let running = running(at: hop) else { return }
      request.tell(.uploaded(count, of: running.message.body.length))
    case .head(let head):
      receive(head, of: hop)
    case .chunk(let chunk):
      receive(chunk, of: hop)
    case .finished:
      finish(hop)
    case .failed(var failure):
      guard running(at: hop) != nil else { return }
      failure.redirects = hop
      fail(.transport(failure.kind), underlying: failure)
    }
  }

  /// The message with no more time than is left, as transport and server get to know it.
  private func limited(_ message: TransportRequest) -> TransportRequest {
    guard let deadline = request.deadline else { return message }
    var message = message
    let left = deadline.remaining
    // Limits that the request itself has do not grow, however often it is sent.
    message.limits.total = request.message.limits.total.map { min($0, left) } ?? left
    if let deadlineHeader { message.headers[deadlineHeader] = "\(Int64(left.inSeconds * 1_000))m" }
    return message
  }

  private func running(at hop: Int) -> Running? {
    lock.withLock {
      guard case .running(let running) = phase, running.hop == hop else { return nil }
      return running
    }
  }

  private func receive(_ head: ResponseHead, of hop: Int) {
    guard let running = running(at: hop) else { return }
    let step = redirects.step(after: running.message, head, followed: hop, redaction: request.call.redaction)
    switch step {
    case .deliver:
      let isCurrent = change(hop) { $0.head = head }
      if isCurrent { request.tell(.responded(head)) }
    case .tooMany:
      fail(.transport(.tooManyRedirects), underlying: TransportFailure(.tooManyRedirects, redirects: hop))
      running.exchange?.cancel()
    case .follow(let redirected):
      let next = limited(redirected)
      let isCurrent = change(hop) { $0 = Running(message: next, hop: hop + 1) }
      guard isCurrent else { return }
      running.exchange?.cancel()
      request.tell(.redirected(status: head.status, to: next.url))
      send(next, hop: hop + 1)
    }
  }

  private func receive(_ chunk: Data, of hop: Int) {
    var progress: (count: Int64, total: Int64?)?
    let isCurrent = change(hop) { running in
      // Most answers come in one piece, which need not be copied.
      if running.body.isEmpty { running.body = chunk } else { running.body += chunk }
      guard request.call.isWatched else { return }
      progress = (Int64(running.body.count), running.head?.headers["Content-Length"].flatMap { Int64($0) })
    }
    if isCurrent, let progress { request.tell(.downloaded(progress.count, of: progress.total)) }
  }

  /// Changes what runs, if that is still this hop; without a copy of the body.
  private func change(_ hop: Int, _ body: (inout Running) -> Void) -> Bool {
    lock.withLock {
      guard case .running(var running) = phase, running.hop == hop else { return false }
      phase = .ready
      body(&running)
      phase = .running(running)
      return true
    }
  }

  private func finish(_ hop: Int) {
    guard let running = running(at: hop) else { return }
    guard let head = running.head else {
      return fail(.transport(.protocol), underlying: TransportFailure(.protocol, redirects: hop))
    }
    let response = HTTPResponse(
      head: head,
      body: running.body,
      receivedAt: request.call.time.wallClock(),
      duration: duration,
      attempt: request.attempt
    )
    if let failure = request.rejection(of: response) { return deliver(failure) }
    guard let whenDone = end().whenDone else { return }
    request.tell(.attemptSucceeded(request.attempt, response))
    whenDone(.success(response))
  }

  private var duration: Duration { request.call.time.elapsed - lock.withLock { start } }

  private func fail(_ kind: NetworkFailure.Kind, underlying: any Error) {
    deliver(request.failure(kind, underlying: underlying, duration: duration))
  }

  private func deliver(_ failure: NetworkFailure) {
    guard let whenDone = end().whenDone else { return }
    request.tell(.attemptFailed(request.attempt, failure))
    whenDone(.failure(failure))
  }

  /// Ends it, and hands out what there is to stop and to tell, to the first caller.
  private func end() -> (
    exchange: (any TransportExchange)?, whenDone: ((Result<HTTPResponse, NetworkFailure>) -> Void)?
  ) {
    lock.withLock {
      let exchange: (any TransportExchange)? = if case .running(let running) = phase { running.exchange } else { nil }
      let rest = (exchange, whenDone)
      phase = .over
      whenDone = nil
      return rest
    }
  }
}
