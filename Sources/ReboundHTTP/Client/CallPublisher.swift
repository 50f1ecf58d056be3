import Combine
import StreamSupport

/// Makes a call for each subscriber: prepares it, sends it through all middleware, parses the answer, and tells those who
/// watch.
///
/// One stage in place of a chain of operators, because each of those costs every request some microseconds.
struct CallPublisher<Output: Sendable>: Publisher {
  typealias Failure = NetworkFailure

  /// Prepares a call, or says why that cannot be done.
  let begin: () throws(NetworkFailure) -> Call<Output>

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == NetworkFailure {
    let call: Call<Output>
    do {
      call = try begin()
    } catch {
      return Fail(error: error).subscribe(subscriber)
    }
    let subscription = CallSubscription(
      call.request,
      whenBegun: { subscriber.receive(subscription: $0) },
      whenAnswered: { [parse = call.parse] answer, subscription in
        let value = try parse(answer)
        return subscription.accepts(answer) ? subscriber.receive(value) : .none
      },
      whenEnded: { subscriber.receive(completion: $0) }
    )
    guard let exchange = call.exchange else { return subscription.send() }
    exchange.subscribe(subscription)
  }
}

/// A call that is ready to be made.
struct Call<Output> {
  let request: HTTPRequest
  /// What the middleware has made of it; `nil` where it goes to the network as it is.
  let exchange: HTTPExchange?
  let parse: (HTTPResponse) throws -> Output
}

/// One call under way, between the middleware and the subscriber.
///
/// It knows neither the type of the response nor the subscriber's: the methods of generic classes are looked up anew for
/// each call, which takes longer than to ask closures.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
private final class CallSubscription: Subscriber, Subscription, CustomStringConvertible, @unchecked Sendable {
  typealias Input = HTTPResponse
  typealias Failure = NetworkFailure

  private enum Phase {
    case waiting
    case running
    case over
  }

  private let request: HTTPRequest
  private let whenBegun: (CallSubscription) -> Void
  /// Parses an answer, and hands on the value if this still accepts it.
  private let whenAnswered: (HTTPResponse, CallSubscription) throws -> Subscribers.Demand
  private let whenEnded: (Subscribers.Completion<NetworkFailure>) -> Void
  private let lock = Lock()
  private var phase = Phase.waiting
  /// There while it runs.
  private var upstream: (any Subscription)?

  init(
    _ request: HTTPRequest,
    whenBegun: @escaping (CallSubscription) -> Void,
    whenAnswered: @escaping (HTTPResponse, CallSubscription) throws -> Subscribers.Demand,
    whenEnded: @escaping (Subscribers.Completion<NetworkFailure>) -> Void
  ) {
    self.request = request
    self.whenBegun = whenBegun
    self.whenAnswered = whenAnswered
    self.whenEnded = whenEnded
  }

  /// Goes to the network by itself, as ``ExchangePublisher`` would have it do.
  func send() {
    let exchange = ExchangeSubscription(request) { [self] result in
      switch result {
      case .success(let response):
        _ = receive(response)
        receive(completion: .finished)
      case .failure(let failure):
        receive(completion: .failure(failure))
      }
    }
    receive(subscription: exchange)
  }

  var description: String { "Call" }

  // MARK: What the middleware says

  func receive(subscription: any Subscription) {
    let isFirst = lock.withLock {
      guard phase == .waiting else { return false }
      phase = .running
      upstream = subscription
      return true
    }
    guard isFirst else { return subscription.cancel() }
    whenBegun(self)
  }

  func receive(_ answer: HTTPResponse) -> Subscribers.Demand {
    guard isRunning else { return .none }
    do {
      return try whenAnswered(answer, self)
    } catch {
      guard let upstream = end() else { return .none }
      upstream.cancel()
      fail(request.failure(parsing: answer, error))
      return .none
    }
  }

  /// Whether the value that was made of an answer is still wanted; if so, tells of it.
  func accepts(_ answer: HTTPResponse) -> Bool {
    // Parsing takes its time, and a cancel may have come meanwhile.
    guard isRunning else { return false }
    request.tell(.succeeded(answer.source))
    return true
  }

  func receive(completion: Subscribers.Completion<NetworkFailure>) {
    guard end() != nil else { return }
    switch completion {
    case .finished: whenEnded(.finished)
    case .failure(let failure): fail(failure)
    }
  }

  private func fail(_ failure: NetworkFailure) {
    request.tell(.failed(failure))
    whenEnded(.failure(failure))
  }

  // MARK: What the subscriber says

  func request(_ demand: Subscribers.Demand) {
    let upstream = lock.withLock { self.upstream }
    upstream?.request(demand)
  }

  func cancel() {
    guard let upstream = end() else { return }
    request.tell(.cancelled)
    upstream.cancel()
  }

  // MARK: State

  private var isRunning: Bool { lock.withLock { phase == .running } }

  /// Ends it, and hands out what to stop, to the first caller.
  private func end() -> (any Subscription)? {
    lock.withLock {
      let upstream = upstream
      self.upstream = nil
      if phase == .running { phase = .over }
      return upstream
    }
  }
}
