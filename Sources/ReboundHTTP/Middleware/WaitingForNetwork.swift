import Combine
import Rebound
import StreamSupport

/// Waits where there is no network, and sends the request once there is one.
///
///     WaitingForNetwork(SystemReachability.shared, atMost: .seconds(30))
///
/// It waits after a failure that says that there is none (`.transport(.offline)`), if the call may be made again, for as
/// long as all waits of the call together may take, and no longer than its deadline; then that failure passes on. All others
/// pass on at once.
///
/// It stands inside ``Retrying``, which hears of none of this: what waits takes no retry, no back-off and no part of a
/// budget, and each retry may wait for what is left of the time. Outside of it, the retries would be used up first, within
/// the second or two that they take. A retry policy's own deadline goes on meanwhile. What answers when all else has failed,
/// such as a copy of ``Caching``, does so when the wait is over: keep the limit short where there is such.
///
/// What fails so although the network is there, it sends once more at once, in case that it has just come back, and not
/// again: then the failure is no want of a network, and ``Retrying`` has its say. Each that is sent has an attempt number of
/// its own. What is decided is told as ``HTTPEvent/Kind-swift.enum/decided(_:)`` with a ``NetworkWaitEvent``.
///
/// - Threads: What is sent again is sent where the reachability tells of the network.
public struct WaitingForNetwork: HTTPMiddleware, HandlingMiddleware {
  private let reachability: any Reachability
  /// How long a call waits at most, in all.
  public let limit: Duration

  /// Makes the middleware.
  ///
  /// - Parameters:
  ///   - reachability: Says when there is a network.
  ///   - limit: How long a call waits at most, in all; zero or less never waits.
  public init(_ reachability: any Reachability, atMost limit: Duration) {
    self.reachability = reachability
    self.limit = max(limit, .zero)
  }

  /// Inside the retries, around the hedging.
  public var place: MiddlewarePlace { .connectivity }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    let attempts = WaitingAttempts(of: request, reachability, limit, next: next)
    Deferred { attempts.next() }
      .retry(when: { (failures: AnyPublisher<NetworkFailure, Never>) in
        failures.setFailureType(to: NetworkFailure.self).flatMap { attempts.wait(after: $0) }
      })
      .mapError { attempts.last($0) }
      .subscribe(subscriber)
  }
}

/// Something that ``WaitingForNetwork`` has decided about a call; a warning if it has waited in vain.
public enum NetworkWaitEvent: Hashable, Sendable {
  /// There is no network, so the call waits for one, at most for so long.
  case waits(atMost: Duration)
  /// There is a network after so long, and the request is sent again.
  case goesOn(after: Duration)
  /// There was none in time, and the failure passes on.
  case gaveUp(after: Duration)
}

extension NetworkWaitEvent: PolicyDecision {
  /// That of waits for a network.
  public static let kind = PolicyKind("network wait")

  /// A warning if it was in vain.
  public var severity: PolicyEvent.Severity { if case .gaveUp = self { .warning } else { .info } }

  /// `waits`, `goes_on` or `gave_up`.
  public var word: String {
    switch self {
    case .waits: "waits"
    case .goesOn: "goes_on"
    case .gaveUp: "gave_up"
    }
  }

  /// What is decided, in words.
  public var description: String {
    switch self {
    case .waits(let limit): "waits for a network, at most \(limit)"
    case .goesOn(let waited): "goes on after \(waited)"
    case .gaveUp(let waited): "gave up after \(waited)"
    }
  }

  /// `limit`, or how long it has `waited`.
  public var details: [EventField] {
    switch self {
    case .waits(let limit): [EventField("limit", limit)]
    case .goesOn(let waited), .gaveUp(let waited): [EventField("waited", waited)]
    }
  }
}

/// What a call has waited for a network so far.
struct NetworkWaits: ~Copyable, Sendable {
  // Not private: Swift 6.3.1 cannot compile another file whose type holds a `~Copyable` one with a private part.
  struct State {
    var count = 0
    var waited = Duration.zero
    var failure: NetworkFailure?
  }

  private let state = Locked(State())

  /// What it waits after now; `nil` if it does not wait.
  var current: NetworkFailure? { state.withLock { $0.failure } }

  /// How often it has gone on.
  var count: Int { state.withLock { $0.count } }

  /// How much of a limit is left.
  func left(of limit: Duration) -> Duration { state.withLock { max(limit - $0.waited, .zero) } }

  /// It begins to wait.
  func begin(after failure: NetworkFailure) {
    let before = state.withLock { state in
      let before = state.failure
      state.failure = failure
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// Somebody has cut the wait off after this long.
  ///
  /// What it waited after stays, for whoever says why.
  func cutOff(after waited: Duration) { state.withLock { $0.waited += waited } }

  /// What the wait was after that was cut off, if the last one was.
  func takeCutOff() -> NetworkFailure? { state.withLock { $0.failure.take() } }

  /// It has waited for this long, and goes on or not.
  func end(after waited: Duration, goesOn: Bool) {
    let failure = state.withLock { state in
      state.waited += waited
      if goesOn { state.count += 1 }
      return state.failure.take()
    }
    withExtendedLifetime(failure) {}
  }
}

/// What is sent of one request, as often as there is a network again.
private final class WaitingAttempts: Sendable {
  /// What is shorter is no wait to speak of.
  private static let shortWait = Duration.seconds(1)

  private let request: HTTPRequest
  private let handler: RequestHandler
  private let reachability: any Reachability
  private let limit: Duration
  /// How often in a row it has hardly waited.
  private let shortWaits = Locked(0)

  init(
    of request: HTTPRequest,
    _ reachability: any Reachability,
    _ limit: Duration,
    next handler: RequestHandler
  ) {
    (self.request, self.reachability, self.limit, self.handler) = (request, reachability, limit, handler)
  }

  func next() -> RequestHandler.Answer {
    if let failure = request.call.networkWaits.takeCutOff() { request.call.keep(failure) }
    return handler(request.attempt(request.attempt + request.call.networkWaits.count))
  }

  /// A value once the request is to be sent again.
  func wait(after failure: NetworkFailure) -> AnyPublisher<Void, NetworkFailure> {
    let call = request.call
    let left = call.networkWaits.left(of: limit)
    let time = request.outerDeadline?.limiting(left) ?? left
    guard failure.kind == .transport(.offline), failure.mayBeRepeated, time > .zero, isWorthWaiting else {
      return Fail(error: failure).eraseToAnyPublisher()
    }
    let start = call.time.now
    call.networkWaits.begin(after: failure)
    request.tell(.decided(NetworkWaitEvent.waits(atMost: time)))
    return reachability.untilOnline
      .setFailureType(to: NetworkFailure.self)
      .protected(by: TimeoutPolicy.total(time), time: call.time) { _ in
        let waited = call.time.now - start
        call.networkWaits.end(after: waited, goesOn: false)
        call.tell(.decided(NetworkWaitEvent.gaveUp(after: waited)))
        return failure
      }
      .handleEvents(
        receiveOutput: { [self] _ in
          let waited = call.time.now - start
          shortWaits.withLock { $0 = waited < Self.shortWait ? $0 + 1 : 0 }
          call.networkWaits.end(after: waited, goesOn: true)
          call.keep(failure)
          call.tell(.decided(NetworkWaitEvent.goesOn(after: waited)))
        },
        receiveCancel: { call.networkWaits.cutOff(after: call.time.now - start) }
      )
      .eraseToAnyPublisher()
  }

  /// What fails so although the network is there is no want of one, and a reachability that says over and over that it is
  /// back is not believed.
  private var isWorthWaiting: Bool {
    let shortWaits = shortWaits.withLock { $0 }
    return shortWaits == 0 || (shortWaits < 3 && reachability.current == .offline)
  }

  /// The failure of the last attempt, with those before it.
  func last(_ failure: NetworkFailure) -> NetworkFailure {
    request.call.networkWaits.count > 0 ? request.call.withEarlier(failure) : failure
  }
}
