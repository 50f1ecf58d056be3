import Combine
import StreamSupport

/// One call under way, between the middleware, or the network itself, and the subscriber.
///
/// It knows neither the type of the response nor the subscriber's: the methods of generic classes are looked up anew for
/// each call, which takes longer than to ask closures.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it. The closures are set before
/// anything happens.
@usableFromInline
final class CallSubscription: Subscriber, Subscription, CustomStringConvertible, @unchecked Sendable {
  @usableFromInline typealias Input = HTTPResponse
  @usableFromInline typealias Failure = NetworkFailure

  /// What a subscriber is told besides values.
  @usableFromInline
  enum Turn {
    case begun(CallSubscription)
    case ended(Subscribers.Completion<NetworkFailure>)
  }

  private enum Phase {
    case waiting
    case running
    case over
  }

  /// Where the answer comes from.
  ///
  /// References, because it costs much to copy a request.
  private enum Origin {
    /// An attempt alone, where there is no middleware.
    case attempt(AttemptSubscription)
    case middleware(Chain)

    var request: HTTPRequest {
      switch self {
      case .attempt(let attempt): attempt.request
      case .middleware(let chain): chain.request
      }
    }
  }

  private final class Chain {
    let exchange: HTTPExchange
    let request: HTTPRequest

    init(_ exchange: HTTPExchange, for request: HTTPRequest) {
      self.exchange = exchange
      self.request = request
    }
  }

  private let origin: Origin
  private let context: CallContext
  private let lock = Lock()
  // All guarded by `lock`; the closures are set once, and read only after that.
  @exclusivity(unchecked) private var phase = Phase.waiting
  /// Whether its response was told: who wants no more than that cancels, which is no end of another kind.
  @exclusivity(unchecked) private var isAnswered = false
  /// Parses an answer, and hands on the value if this still accepts it.
  @exclusivity(unchecked) private var whenAnswered: ((HTTPResponse, CallSubscription) throws -> Subscribers.Demand)?
  @exclusivity(unchecked) private var whenTurned: ((Turn) -> Void)?
  /// There while it runs.
  @exclusivity(unchecked) private var upstream: (any Subscription)?

  /// - Parameter exchange: What the middleware has made of the request; `nil` where it goes to the network as it is.
  init(_ request: HTTPRequest, of client: ClientSettings.Shared, through exchange: HTTPExchange?) {
    context = request.call
    origin =
      exchange.map { .middleware(Chain($0, for: request)) }
      ?? .attempt(AttemptSubscription(request, of: client, .attempt(through: nil)))
  }

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
    self.whenAnswered = whenAnswered
    self.whenTurned = whenTurned
    switch origin {
    case .middleware(let chain): chain.exchange.subscribe(self)
    case .attempt(let attempt): attempt.attach(self)
    }
  }

  @usableFromInline var description: String { "Call" }

  // MARK: What comes from there

  @usableFromInline
  func receive(subscription: any Subscription) {
    lock.lock()
    let isFirst = phase == .waiting
    if isFirst {
      phase = .running
      upstream = subscription
    }
    lock.unlock()
    if isFirst { whenTurned?(.begun(self)) } else { subscription.cancel() }
  }

  @usableFromInline
  func receive(_ answer: HTTPResponse) -> Subscribers.Demand {
    guard isRunning else { return .none }
    do {
      return try whenAnswered?(answer, self) ?? .none
    } catch {
      guard let upstream = end() else { return .none }
      upstream.cancel()
      fail(origin.request.failure(parsing: answer, error))
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
    if isWanted { context.tell(.succeeded(answer.source)) }
    return isWanted
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<NetworkFailure>) {
    guard end() != nil else { return }
    switch completion {
    case .finished: whenTurned?(.ended(.finished))
    case .failure(let failure): fail(failure)
    }
  }

  private func fail(_ failure: NetworkFailure) {
    context.tell(.failed(failure))
    whenTurned?(.ended(.failure(failure)))
  }

  // MARK: What the subscriber says

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
    lock.lock()
    let upstream = upstream
    lock.unlock()
    upstream?.request(demand)
  }

  @usableFromInline
  func cancel() {
    guard let upstream = end() else { return }
    lock.lock()
    let isAnswered = isAnswered
    lock.unlock()
    if !isAnswered { context.tell(.cancelled) }
    upstream.cancel()
  }

  // MARK: State

  private var isRunning: Bool {
    lock.lock()
    defer { lock.unlock() }
    return phase == .running
  }

  /// Ends it, and hands out what to stop, to the first caller.
  private func end() -> (any Subscription)? {
    lock.lock()
    defer { lock.unlock() }
    let upstream = upstream
    self.upstream = nil
    if phase == .running { phase = .over }
    return upstream
  }
}
