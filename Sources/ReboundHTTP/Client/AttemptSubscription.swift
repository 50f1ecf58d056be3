import Combine
import Rebound
import StreamSupport

/// One attempt under way: one hop after the other, as long as servers want the request elsewhere; or, for the middleware
/// that sees each hop, one of them.
///
/// An attempt stands outside of ``MiddlewarePlace/cookies`` in every client, so that what stands there sees each hop as it
/// is sent: what signs a request signs what goes over the wire. It says how much time is left.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
final class AttemptSubscription: Subscriber, Subscription, CustomStringConvertible, @unchecked Sendable {
  typealias Input = HTTPResponse
  typealias Failure = NetworkFailure

  enum Part: Sendable {
    /// All of it. Each hop goes through the middleware if there is any that sees hops, and else over the transport.
    case attempt(through: (@Sendable (HTTPRequest) -> HTTPExchange)?)
    /// One hop, over the transport.
    case hop
  }

  private enum Phase {
    case ready
    case running
    case over
  }

  let request: HTTPRequest
  let part: Part
  private let client: ClientSettings.Shared
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var phase = Phase.ready
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  /// The present hop; `nil` between two.
  @exclusivity(unchecked) private var hop: Hop?
  /// Where its answer comes from, unless that is the transport.
  @exclusivity(unchecked) private var upstream: (any Subscription)?
  @exclusivity(unchecked) private var downstream: AnySubscriber<HTTPResponse, NetworkFailure>?

  init(_ request: HTTPRequest, of client: ClientSettings.Shared, _ part: Part) {
    self.request = request
    self.client = client
    self.part = part
    if case .hop = part { hop = Hop(SentRequest(request)) }
  }

  /// Hands this to its one subscriber.
  func attach<S: Subscriber>(_ subscriber: S) where S.Input == HTTPResponse, S.Failure == NetworkFailure {
    downstream = AnySubscriber(subscriber)
    subscriber.receive(subscription: self)
  }

  var description: String {
    switch part {
    case .attempt: "Attempt"
    case .hop: "Exchange"
    }
  }

  var settings: ClientSettings { client.settings }

  // MARK: What the subscriber says

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.lock()
    let begins = phase == .ready
    if begins { phase = .running }
    self.demand += demand
    let (upstream, sent) = (upstream, hop?.sent)
    lock.unlock()
    guard begins else { return upstream?.request(demand) ?? () }
    if let sent { return start(sent) }
    var first = request
    first.start = settings.time.now
    sendPrepared(first)
  }

  func cancel() {
    let rest = end()
    rest.upstream?.cancel()
    rest.exchange?.cancel()
    if let hop = rest.hop, !isThroughMiddleware { hop.sent.request.destination?.interrupt {} }
  }

  // MARK: Hops

  private var isThroughMiddleware: Bool {
    if case .attempt(.some) = part { true } else { false }
  }

  /// Sends a request as it is, if it is still wanted.
  func pass(_ sent: SentRequest) {
    lock.lock()
    let isWanted = phase == .running
    if isWanted { hop = Hop(sent) }
    lock.unlock()
    guard isWanted else { return }
    if case .attempt(let next?) = part { next(sent.request).subscribe(self) } else { start(sent) }
  }

  /// Changes the hop that has sent this; `nil` if it is no longer the present one.
  @discardableResult
  func change<Result>(_ sent: SentRequest, _ body: (inout Hop) -> Result?) -> Result? {
    lock.lock()
    defer { lock.unlock() }
    return hop?.sent === sent ? hop?.change(body) : nil
  }

  /// Takes out the hop whose answer wants the request elsewhere, so that the next one can take its place; `nil` if there is
  /// none.
  func leaveHop() -> (sent: SentRequest, redirect: ResponseHead)? {
    lock.lock()
    guard let last = hop, let redirect = last.redirect else {
      lock.unlock()
      return nil
    }
    let rest = (last, upstream)
    (hop, upstream) = (nil, nil)
    lock.unlock()
    // What they hold may run foreign code as it goes.
    withExtendedLifetime(rest) {}
    return (last.sent, redirect)
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
    let sent = hop?.redirect == nil ? hop?.sent : nil
    lock.unlock()
    guard let sent else { return .none }
    guard sent.request.isFollowed?(answer.head) ?? false else { return deliver(answer) }
    change(sent) { $0.follow(answer.head) }
    return .none
  }

  func receive(completion: Subscribers.Completion<NetworkFailure>) {
    guard case .finished = completion, let last = leaveHop() else { return finish(completion) }
    follow(last.redirect, after: last.sent.request)
  }

  // MARK: What goes downstream

  func deliver(_ answer: HTTPResponse) -> Subscribers.Demand {
    lock.lock()
    let downstream = downstream
    lock.unlock()
    guard let downstream else { return .none }
    let more = downstream.receive(answer)
    lock.withLock {
      demand -= 1
      demand += more
    }
    return more
  }

  /// Ends it because a hop has failed.
  func end(with failure: NetworkFailure, _ hop: HTTPRequest) {
    hop.tell(.attemptFailed(hop.attempt, failure))
    finish(.failure(failure))
  }

  func finish(_ completion: Subscribers.Completion<NetworkFailure>) {
    end().downstream?.receive(completion: completion)
  }

  /// What there is until the end.
  private struct Rest {
    let exchange: (any TransportExchange)?
    let hop: Hop?
    let upstream: (any Subscription)?
    let downstream: AnySubscriber<HTTPResponse, NetworkFailure>?
  }

  /// Ends it, and hands out what is left to the first caller, who releases it with the lock open.
  private func end() -> Rest {
    lock.lock()
    defer { lock.unlock() }
    let exchange = hop?.end()?.exchange
    let rest = Rest(exchange: exchange, hop: hop, upstream: upstream, downstream: downstream)
    (hop, upstream, downstream) = (nil, nil, nil)
    phase = .over
    return rest
  }
}
