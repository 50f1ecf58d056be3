import Combine
import Rebound
import StreamSupport

/// Makes an attempt of a request for each subscriber: follows redirects, and says how much time is left.
///
/// It stands outside of ``MiddlewarePlace/cookies`` in every client, so that what stands there sees each hop as it is sent:
/// what signs a request signs what goes over the wire. Nothing is passed on before a value is requested.
struct AttemptPublisher: Publisher {
  typealias Output = HTTPResponse
  typealias Failure = NetworkFailure

  let request: HTTPRequest
  let client: ClientSettings.Shared
  let next: @Sendable (HTTPRequest) -> HTTPExchange

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    AttemptSubscription(request, of: client, next: next).attach(subscriber)
  }
}

/// One attempt under way: one exchange after the other, as long as servers want the request elsewhere.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
final class AttemptSubscription: Subscriber, Subscription, CustomStringConvertible, @unchecked Sendable {
  typealias Input = HTTPResponse
  typealias Failure = NetworkFailure

  private enum Phase {
    case ready
    case running
    case over
  }

  let request: HTTPRequest
  private let client: ClientSettings.Shared
  /// `nil` where no middleware stands before the network.
  private let next: (@Sendable (HTTPRequest) -> HTTPExchange)?
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var phase = Phase.ready
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  /// The present hop; `nil` between two.
  @exclusivity(unchecked) private var upstream: (any Subscription)?
  /// What was sent last.
  @exclusivity(unchecked) private var sent: HTTPRequest?
  /// The answer that wants the request elsewhere, until its exchange ends.
  @exclusivity(unchecked) private var redirect: ResponseHead?
  @exclusivity(unchecked) private var downstream: AnySubscriber<HTTPResponse, NetworkFailure>?

  init(_ request: HTTPRequest, of client: ClientSettings.Shared, next: (@Sendable (HTTPRequest) -> HTTPExchange)?) {
    self.request = request
    self.client = client
    self.next = next
  }

  /// Hands this to its one subscriber.
  func attach<S: Subscriber>(_ subscriber: S) where S.Input == HTTPResponse, S.Failure == NetworkFailure {
    downstream = AnySubscriber(subscriber)
    subscriber.receive(subscription: self)
  }

  var description: String { "Attempt" }

  private var settings: ClientSettings { client.settings }

  // MARK: What the subscriber says

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.lock()
    let begins = phase == .ready
    if begins { phase = .running }
    self.demand += demand
    let upstream = upstream
    lock.unlock()
    guard begins else { return upstream?.request(demand) ?? () }
    var first = request
    first.start = settings.time.now
    sendPrepared(first)
  }

  func cancel() {
    end().upstream?.cancel()
  }

  // MARK: Hops

  /// Sends the first request of a way, which asks for what its destination is still without.
  private func sendPrepared(_ request: HTTPRequest) {
    var prepared = request
    do {
      try request.destination?.prepare(&prepared.message)
    } catch {
      let failure = request.failure(keeping: nil, error)
      request.tell(.attemptFailed(request.attempt, failure))
      return finish(.failure(failure))
    }
    send(prepared)
  }

  private func send(_ hop: HTTPRequest) {
    var hop = hop
    if let deadline = request.deadline { limit(&hop.message, deadline) }
    let redirects = settings.redirects
    if redirects.limit > 0 || hop.destination != nil {
      hop.isFollowed = { [message = hop.message, count = hop.redirects, destination = hop.destination] head in
        if destination?.use(of: head) == .startAnew { return true }
        if case .deliver = redirects.step(after: message, head, followed: count) { return false }
        return true
      }
    }
    lock.lock()
    let isWanted = phase == .running
    if isWanted { sent = hop }
    lock.unlock()
    guard isWanted else { return }
    if let next { next(hop).subscribe(self) } else { ExchangeSubscription(hop, of: client).attach(self) }
  }

  /// Leaves a message no more time than there is, as transport and server get to know it.
  private func limit(_ message: inout TransportRequest, _ deadline: Deadline) {
    let left = deadline.remaining
    // Limits that the request itself has do not grow, however often it is sent.
    message.limits.total = request.message.limits.total.map { min($0, left) } ?? left
    if let field = settings.deadlineHeader { message.headers[field] = "\(Int64(left.inSeconds * 1_000))m" }
  }

  private func follow(_ head: ResponseHead, after hop: HTTPRequest) {
    if let destination = hop.destination, destination.use(of: head) == .startAnew {
      destination.startAnew()
      var anew = request
      anew.start = hop.start
      return sendPrepared(anew)
    }
    let count = hop.redirects
    switch settings.redirects.step(after: hop.message, head, followed: count) {
    case .deliver:
      finish(.finished)
    case .tooMany:
      let failure = hop.failure(
        .transport(.tooManyRedirects),
        underlying: TransportFailure(.tooManyRedirects, redirects: count),
        duration: settings.time.now - hop.start
      )
      hop.tell(.attemptFailed(hop.attempt, failure))
      finish(.failure(failure))
    case .follow(let message):
      var following = hop
      following.message = message
      following.redirection = Redirection(
        count: count + 1,
        first: request.message,
        hasLeftOrigin: hop.hasLeftOrigin || Origin(message.url) != Origin(hop.message.url)
      )
      hop.tell(.redirected(status: head.status, to: message.url))
      send(following)
    }
  }

  // MARK: What comes from there

  func receive(subscription: any Subscription) {
    lock.lock()
    let isWanted = phase == .running && upstream == nil
    if isWanted { upstream = subscription }
    let demand = demand
    lock.unlock()
    if isWanted { subscription.request(demand) } else { subscription.cancel() }
  }

  func receive(_ answer: HTTPResponse) -> Subscribers.Demand {
    lock.lock()
    guard phase == .running, redirect == nil, let sent, let downstream else {
      lock.unlock()
      return .none
    }
    lock.unlock()
    if sent.isFollowed?(answer.head) ?? false {
      lock.withLock { redirect = answer.head }
      return .none
    }
    let more = downstream.receive(answer)
    lock.withLock {
      demand -= 1
      demand += more
    }
    return more
  }

  func receive(completion: Subscribers.Completion<NetworkFailure>) {
    lock.lock()
    guard phase == .running, case .finished = completion, let redirect, let sent else {
      lock.unlock()
      return finish(completion)
    }
    self.redirect = nil
    upstream = nil
    lock.unlock()
    follow(redirect, after: sent)
  }

  private func finish(_ completion: Subscribers.Completion<NetworkFailure>) {
    end().downstream?.receive(completion: completion)
  }

  /// Ends it, and hands out what is left to the first caller.
  private func end() -> (upstream: (any Subscription)?, downstream: AnySubscriber<HTTPResponse, NetworkFailure>?) {
    lock.lock()
    let rest = (upstream, downstream)
    let last = sent
    upstream = nil
    downstream = nil
    sent = nil
    phase = .over
    lock.unlock()
    // What it holds may run foreign code as it goes.
    withExtendedLifetime(last) {}
    return rest
  }
}

/// What has led a request to where it goes now.
final class Redirection: Sendable {
  /// How many redirects were followed.
  let count: Int
  /// What was asked for before any of them.
  let first: TransportRequest
  let hasLeftOrigin: Bool

  init(count: Int, first: TransportRequest, hasLeftOrigin: Bool) {
    self.count = count
    self.first = first
    self.hasLeftOrigin = hasLeftOrigin
  }
}
