import Combine
import Rebound
import StreamSupport

/// One call under way, between the transport, or the middleware, and the subscriber; or for the middleware an attempt of
/// it, or a hop of that.
///
/// An attempt is one hop after the other, as long as servers want the request elsewhere. It stands right inside
/// of ``MiddlewarePlace/redirects`` in every client, so that what is inside of it sees each hop as it is sent: what signs
/// a request signs what goes over the wire. Where there is no middleware, a call is its one attempt.
///
/// It knows neither the type of the response nor the subscriber's: the methods of generic classes are looked up anew for
/// each call, which takes longer than to ask closures.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it. The closures are set before
/// anything happens.
@usableFromInline
final class CallSubscription: ErasedAnswerSubscriber, Subscription, @unchecked Sendable {
  /// What a subscriber is told besides values.
  @usableFromInline
  enum Turn {
    case begun(CallSubscription)
    case ended(Subscribers.Completion<NetworkFailure>)
  }

  /// How much of the way it is, with its name for those who look at subscriptions.
  enum Part: String {
    case call = "Call"
    case attempt = "Attempt"
    case hop = "Exchange"
  }

  private enum Phase {
    case ready
    case running
    case over
  }

  /// Who gets what comes.
  private enum Sink {
    /// As it comes: of an attempt or a hop.
    case subscriber(AnswerSubscriber)
    /// Parsed: of a call.
    case parser(
      answered: (HTTPResponse, CallSubscription) throws -> Subscribers.Demand,
      turned: (Turn) -> Void
    )

    func turn(_ turn: Turn) {
      switch (self, turn) {
      case (.subscriber(let subscriber), .begun(let subscription)): subscriber.receive(subscription: subscription)
      case (.subscriber(let subscriber), .ended(let completion)): subscriber.receive(completion: completion)
      case (.parser(_, let turned), _): turned(turn)
      }
    }

    func answer(_ answer: HTTPResponse, to subscription: CallSubscription) throws -> Subscribers.Demand {
      switch self {
      case .subscriber(let subscriber): subscription.accepts(answer) ? subscriber.receive(answer) : .none
      case .parser(let answered, _): try answered(answer, subscription)
      }
    }
  }

  /// What there is until the end; who gets it lets go of what comes through middleware, once.
  private struct Rest {
    let exchange: (any TransportExchange)?
    let hop: Hop?
    let upstream: SubscriptionSlot
    let sink: Sink?
    let isAnswered: Bool
  }

  let request: HTTPRequest
  let part: Part
  private let client: ClientSettings.Shared
  /// The middleware that a call goes through, or each hop of an attempt; `nil` where the transport is next.
  let next: RequestHandler?
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var phase = Phase.ready
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  /// The present hop; `nil` between two, and for a call that goes through middleware.
  @exclusivity(unchecked) private var hop: Hop?
  /// What comes through middleware.
  @exclusivity(unchecked) private var upstream = SubscriptionSlot()
  /// Whether its response was told: who wants no more than that cancels, which is no end of another kind.
  @exclusivity(unchecked) private var isAnswered = false
  /// There until the end.
  @exclusivity(unchecked) private var sink: Sink?

  init(_ request: HTTPRequest, of client: ClientSettings.Shared, _ part: Part, through next: RequestHandler?) {
    self.request = request
    self.client = client
    self.part = part
    self.next = next
    if part == .hop { hop = Hop(SentRequest(request, startedAt: request.attemptStart)) }
    // Downcasts: it hands over itself.
    super.init(
      receivesSubscription: { unsafeDowncast($0, to: CallSubscription.self).begin(upstream: $1) },
      receivesAnswer: { unsafeDowncast($0, to: CallSubscription.self).receive($1) },
      receivesEnd: { unsafeDowncast($0, to: CallSubscription.self).receive(end: $1) }
    )
  }

  deinit { upstream.take().release() }

  /// Hands this to its subscriber.
  ///
  /// - Parameters:
  ///   - whenAnswered: Parses an answer, and hands on the value if this still accepts it.
  ///   - whenTurned: Told of the beginning and of the end.
  @usableFromInline
  func start(
    whenAnswered: @escaping (HTTPResponse, CallSubscription) throws -> Subscribers.Demand,
    whenTurned: @escaping (Turn) -> Void
  ) {
    sink = .parser(answered: whenAnswered, turned: whenTurned)
    if let next { next.handle(request, AnswerSubscriber(self)) } else { whenTurned(.begun(self)) }
  }

  /// Hands this to the subscriber of an attempt, or of a hop, which gets what comes as it is.
  func start(_ subscriber: AnswerSubscriber) {
    sink = .subscriber(subscriber)
    subscriber.receive(subscription: self)
  }

  @usableFromInline override var description: String { part.rawValue }

  var settings: ClientSettings { client.settings }
  /// Whether it has begun, and what comes of it is still wanted.
  var isRunning: Bool { lock.withLock { phase == .running } }

  // MARK: What the subscriber says

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    lock.lock()
    let begins = phase == .ready
    if begins { phase = .running }
    self.demand += demand
    let sent = begins ? hop?.sent : nil
    let upstream = !begins && upstream.isFull ? upstream.subscription : nil
    lock.unlock()
    guard begins else { return upstream?.request(demand) ?? () }
    if let sent { return begin(sent) }
    sendPrepared(request, startedAt: settings.time.now)
  }

  @usableFromInline
  func cancel() {
    guard let rest = end() else { return }
    if part == .call, !rest.isAnswered { request.call.tell(.cancelled) }
    stop(rest)
  }

  // MARK: Hops

  /// Sends a request as it is, if it is still wanted.
  func pass(_ sent: SentRequest) {
    lock.lock()
    let isWanted = phase == .running
    if isWanted { hop = Hop(sent) }
    lock.unlock()
    guard isWanted else { return }
    if let next { next.handle(sent.request, AnswerSubscriber(self)) } else { begin(sent) }
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
    hop = nil
    let before = upstream.take()
    lock.unlock()
    before.release()
    return (last.sent, redirect)
  }

  // MARK: What comes through middleware

  private func begin(upstream subscription: any Subscription) {
    lock.lock()
    let isWanted = phase != .over && !upstream.isFull
    let begins = phase == .ready
    if isWanted {
      phase = .running
      upstream.put(subscription)
    }
    let (demand, sink) = (demand, begins ? sink : nil)
    lock.unlock()
    guard isWanted else { return subscription.cancel() }
    // A call begins with it; of a hop something was asked before.
    if begins { sink?.turn(.begun(self)) } else { subscription.request(demand) }
  }

  private func receive(_ answer: HTTPResponse) -> Subscribers.Demand {
    let (sent, isLeaving) = lock.withLock { (hop?.sent, hop?.redirect != nil) }
    guard !isLeaving else { return .none }
    guard let sent else { return deliver(answer) }
    look(at: answer.head, sent)
    if follows(answer.head, sent) {
      change(sent) { $0.follow(answer.head) }
      return .none
    }
    var answer = answer
    // The middleware of the hop may have made another of it.
    answer.head.redirectChain = sent.request.redirection?.redirectChain
    let more = deliver(answer)
    lock.withLock {
      // Middleware may answer more often than it was asked to.
      if demand > .none { demand -= 1 }
      demand += more
    }
    return more
  }

  private func receive(end: Subscribers.Completion<NetworkFailure>) {
    var completion = end
    switch completion {
    case .finished:
      if let (sent, redirect) = leaveHop() { return follow(redirect, after: sent) }
    case .failure(var failure):
      if let sent = lock.withLock({ hop?.sent }) {
        if let head = failure.head { look(at: head, sent) }
        // The middleware of the hop may have made another of it.
        if failure.redirectChain == nil, let chain = sent.request.redirection?.redirectChain {
          failure.redirectChain = chain
          completion = .failure(failure)
        }
      }
    }
    if isRunning { finish(completion) }
  }

  // MARK: What the subscriber is told

  /// Hands on an answer, if it is still wanted.
  func deliver(_ answer: HTTPResponse) -> Subscribers.Demand {
    let sink = lock.withLock { phase == .running ? self.sink : nil }
    do {
      return try sink?.answer(answer, to: self) ?? .none
    } catch {
      finish(.failure(request.failure(parsing: answer, error)), stopping: true)
      return .none
    }
  }

  /// Whether the value that was made of an answer is still wanted; if so, tells of it.
  @usableFromInline
  func accepts(_ answer: HTTPResponse) -> Bool {
    lock.lock()
    // Parsing takes its time, and a cancel may have come meanwhile.
    let isWanted = phase == .running
    if isWanted { isAnswered = true }
    lock.unlock()
    if isWanted, part == .call { request.call.tell(.succeeded(answer.source)) }
    return isWanted
  }

  /// - Parameter stopping: Whether there is still something under way.
  func finish(_ completion: Subscribers.Completion<NetworkFailure>, stopping: Bool = false) {
    guard let rest = end() else { return }
    if stopping { stop(rest) } else { rest.upstream.release() }
    var completion = completion
    if part == .call, case .failure(var failure) = completion {
      if request.call.hasGeneratedKey {
        failure = request.call.ended(with: failure)
        completion = .failure(failure)
      }
      request.call.tell(.failed(failure))
    }
    rest.sink?.turn(.ended(completion))
  }

  /// Ends it, and hands out what is left to the first caller, who releases it with the lock open.
  private func end() -> Rest? {
    lock.lock()
    defer { lock.unlock() }
    guard phase != .over else { return nil }
    phase = .over
    let exchange = hop?.end()?.exchange
    return Rest(
      exchange: exchange,
      hop: hop.take(),
      upstream: upstream.take(),
      sink: sink.take(),
      isAnswered: isAnswered
    )
  }

  private func stop(_ rest: Rest) {
    rest.upstream.cancel()
    rest.exchange?.cancel()
    // Whoever has it prepared, also while that lasts, and whoever fills it.
    if next == nil || part == .attempt { request.destination?.interrupt {} }
  }
}
