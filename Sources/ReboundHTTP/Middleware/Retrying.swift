import Combine
import Rebound
import StreamSupport

/// Tries again as a policy says, where that can do no harm.
///
///     Retrying(.http)
///     Retrying(try RetryPolicy(maxRetries: 4, deadline: .seconds(20)).within(budget))
///
/// Whatever the policy says, a request is sent again only after a failure that is transient, if its body can be read
/// again, and if it is idempotent or the server cannot have acted on it. The pause that a server asks for is kept.
///
/// No wait begins that would end after the deadline of the call: the failure comes at once then, and its
/// ``NetworkFailure/notRetriedBecause`` is `deadlineExceeded`.
public struct Retrying: Middleware {
  /// When, how often and how late.
  public let policy: RetryPolicy<NetworkFailure>
  /// The same, for what may be sent again.
  private let safe: RetryPolicy<NetworkFailure>

  /// Makes the middleware.
  ///
  /// - Parameter policy: When, how often and how late.
  public init(_ policy: RetryPolicy<NetworkFailure> = .http) {
    self.policy = policy
    safe = .http(policy)
  }

  /// Around each attempt.
  public var place: MiddlewarePlace { .retry }
  /// With the number of retries.
  public var name: String { "Retrying(\(policy.maxRetries.map(String.init) ?? "for ever"))" }

  /// Sends the request, and again.
  public func answer(
    _ request: HTTPRequest,
    next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
  ) -> HTTPAnswer {
    Deferred {
      let attempts = RequestAttempts()
      // The deadline is the call's, and only known now.
      let policy = safe.ofCall(within: request.deadline) { event in
        attempts.learn(event.outcome)
        if let failure = event.error as? NetworkFailure { request.call.keep(failure) }
        request.tell(.retry(event))
      }
      return Deferred { next(request.attempt(attempts.next())) }
        .retry(policy, time: request.time)
        .mapError { failure in
          var failure = failure
          failure.earlier = Array(request.call.earlier.dropLast())
          failure.notRetriedBecause = attempts.lastReason
          return failure
        }
    }
    .eraseToAnyPublisher()
  }
}

extension RetryPolicy<NetworkFailure> {
  /// Two retries, after about 0.5 s and 1 s, with full jitter, of calls that may be sent again.
  public static var http: RetryPolicy { http(.standard) }

  /// The same policy, for calls that may be sent again: see ``NetworkFailure/isRetryable``.
  public static func http(_ policy: RetryPolicy) -> RetryPolicy {
    let asked = policy.decision
    return policy.when(\.isRetryable).deciding { failure, context in
      if let limit = failure.retryLimit, context.retries >= limit { return .stop }
      return asked(failure, context)
    }
  }
}

/// The attempts of one execution: how many have begun, and why they have come to their end.
private final class RequestAttempts: Sendable {
  private let state = Locked<(count: Int, reason: RetryEvent.Reason?)>((0, nil))

  var lastReason: RetryEvent.Reason? { state.withLock { $0.reason } }

  func next() -> Int {
    state.withLock { state in
      state.count += 1
      return state.count
    }
  }

  func learn(_ outcome: RetryEvent.Outcome) {
    guard case .stopped(let reason) = outcome else { return }
    state.withLock { $0.reason = reason }
  }
}
