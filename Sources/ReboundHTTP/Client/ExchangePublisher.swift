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

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    ExchangeSubscription(request).attach(subscriber)
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
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var phase = Phase.ready
  /// `nil` until the transport has returned it.
  @exclusivity(unchecked) private var exchange: (any TransportExchange)?
  @exclusivity(unchecked) private var head: ResponseHead?
  @exclusivity(unchecked) private var body = Data()
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
    if !isCurrent { exchange.cancel() }
  }

  func cancel() {
    lock.withLock { end() }.exchange?.cancel()
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
    let isRedirected = request.isRedirected?(head) ?? false
    lock.lock()
    guard isRunning else { return lock.unlock() }
    guard isRedirected else {
      self.head = head
      lock.unlock()
      return request.tell(.responded(head))
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
    // Most answers come in one piece, which need not be copied.
    if body.isEmpty { body = chunk } else { body += chunk }
    guard request.call.isWatched else { return lock.unlock() }
    let (count, total) = (Int64(body.count), head?.headers["Content-Length"].flatMap { Int64($0) })
    lock.unlock()
    request.tell(.downloaded(count, of: total))
  }

  private func finish() {
    lock.lock()
    guard isRunning else { return lock.unlock() }
    let rest = end()
    lock.unlock()
    guard let head = rest.head else {
      return deliver(TransportFailure(.protocol), to: rest.whenDone)
    }
    let response = response(head, rest.body)
    if let failure = request.rejection(of: response) { return deliver(failure, to: rest.whenDone) }
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
