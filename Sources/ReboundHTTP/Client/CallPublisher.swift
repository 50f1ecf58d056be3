import Combine
import StreamSupport

/// Makes a call for each subscriber: prepares it, sends it through all middleware, parses the answer, and tells those who
/// watch.
///
/// One stage in place of a chain of operators, because each of those costs every request some microseconds.
struct CallPublisher<Output: Sendable>: Publisher {
  typealias Failure = NetworkFailure

  /// Prepares a call, or says why that cannot be done.
  let begin: () -> Result<Call<Output>, NetworkFailure>

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == NetworkFailure {
    switch begin() {
    case .success(let call): call.exchange.subscribe(CallSubscription(call, subscriber))
    case .failure(let failure): Fail(error: failure).subscribe(subscriber)
    }
  }
}

/// A call that is ready to be made.
struct Call<Output> {
  let request: HTTPRequest
  let exchange: HTTPExchange
  let parse: (HTTPResponse) throws -> Output
}

/// One call under way, between the middleware and the subscriber.
///
/// Unchecked, because the lock guards all that changes; no foreign code runs under it.
private final class CallSubscription<Output: Sendable, Downstream: Subscriber>: Subscriber, Subscription,
  CustomStringConvertible, @unchecked Sendable
where Downstream.Input == Output, Downstream.Failure == NetworkFailure {
  typealias Input = HTTPResponse
  typealias Failure = NetworkFailure

  private enum Phase {
    case waiting
    case running
    case over
  }

  private let request: HTTPRequest
  private let parse: (HTTPResponse) throws -> Output
  private let downstream: Downstream
  private let lock = Lock()
  private var phase = Phase.waiting
  /// There while it runs.
  private var upstream: (any Subscription)?

  init(_ call: Call<Output>, _ downstream: Downstream) {
    request = call.request
    parse = call.parse
    self.downstream = downstream
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
    downstream.receive(subscription: self)
  }

  func receive(_ answer: HTTPResponse) -> Subscribers.Demand {
    guard isRunning else { return .none }
    do {
      let value = try parse(answer)
      // Parsing takes its time, and a cancel may have come meanwhile.
      guard isRunning else { return .none }
      request.tell(.succeeded(answer.source))
      return downstream.receive(value)
    } catch {
      guard let upstream = end() else { return .none }
      upstream.cancel()
      fail(request.failure(parsing: answer, error))
      return .none
    }
  }

  func receive(completion: Subscribers.Completion<NetworkFailure>) {
    guard end() != nil else { return }
    switch completion {
    case .finished: downstream.receive(completion: .finished)
    case .failure(let failure): fail(failure)
    }
  }

  private func fail(_ failure: NetworkFailure) {
    request.tell(.failed(failure))
    downstream.receive(completion: .failure(failure))
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
