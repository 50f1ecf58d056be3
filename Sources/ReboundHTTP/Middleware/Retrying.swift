import Combine
import Rebound
import StreamSupport

/// Tries again as a policy says, where that can do no harm.
///
///     Retrying(.http)
///     Retrying(try RetryPolicy(maxRetries: 4, deadline: .seconds(20)).within(budget))
///     Retrying(.http, budgets: try .ratio(0.2))   // a retry for five requests, for each host by itself
///
/// Whatever the policy says, a request is sent again only after a failure that is transient, if its body can be read
/// again, and if it is idempotent or the server cannot have acted on it. The pause that a server asks for is kept. Where nothing
/// but the body is in the way, ``NetworkFailure/notRetriedBecause`` is `notReplayable`.
///
/// No wait begins that would end after the deadline of the call: the failure comes at once then, and its
/// ``NetworkFailure/notRetriedBecause`` is `deadlineExceeded`.
public struct Retrying: HTTPMiddleware, HandlingMiddleware {
  /// When, how often and how late.
  public let policy: RetryPolicy<NetworkFailure>
  /// The same, for what may be sent again.
  private let safe: RetryPolicy<NetworkFailure>
  private let budgets: Keyed<String, RetryBudget>?

  /// Makes the middleware.
  ///
  /// - Parameter policy: When, how often and how late.
  public init(_ policy: RetryPolicy<NetworkFailure> = .http) {
    self.init(policy, by: nil)
  }

  /// Makes the middleware, with a budget for each host, so that one that is sick does not use up the retries of the others.
  ///
  /// - Parameters:
  ///   - policy: When, how often and how late; a budget of its own is not asked.
  ///   - budgets: By the host that a request is made for, with the port where there is one.
  public init(_ policy: RetryPolicy<NetworkFailure> = .http, budgets: Keyed<String, RetryBudget>) {
    self.init(policy, by: budgets)
  }

  private init(_ policy: RetryPolicy<NetworkFailure>, by budgets: Keyed<String, RetryBudget>?) {
    self.policy = policy
    self.budgets = budgets
    safe = .http(policy)
  }

  /// Around each attempt.
  public var place: MiddlewarePlace { .retry }
  /// With the number of retries.
  public var name: String { "Retrying(\(policy.maxRetries.map(String.init) ?? "for ever"))" }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    let attempts = RequestAttempts(of: request, next: next)
    let policy = budgets.map { safe.within($0[request.host]) } ?? safe
    // Each closure holds that one object, and needs no memory of its own.
    Deferred { attempts.next() }
      .retry(policy.ofCall(within: request.deadline) { attempts.learn($0) }, time: request.time)
      .mapError { attempts.last($0) }
      .subscribe(subscriber)
  }
}

extension RetryPolicy<NetworkFailure> {
  /// Two retries, after at most 0.5 s and 1 s, by full jitter, of calls that may be sent again.
  public static var http: RetryPolicy { http(.standard) }

  /// The same policy, for calls that may be sent again: see ``NetworkFailure/isRetryable``.
  public static func http(_ policy: RetryPolicy) -> RetryPolicy {
    let (asked, holds, isNever) = (policy.decision, policy.condition, policy.maxRetries == 0)
    return policy.when(\.isRetryable)
      .refusing { failure in
        guard !isNever, failure.lacksOnlyBody else { return .notRetryable }
        var replayable = failure
        replayable.call.isReplayable = true
        return holds(replayable) ? .notReplayable : .notRetryable
      }
      .deciding { failure, context in
        if let limit = failure.retryLimit, context.retries >= limit { return .stop }
        return asked(failure, context)
      }
  }
}

/// The attempts of one request: how many have begun, and why they have come to their end.
private final class RequestAttempts: Sendable {
  private let request: HTTPRequest
  private let handler: RequestHandler
  private let counter = Counter()
  private let lastReason = Locked<RetryEvent.Reason?>(nil)

  init(of request: HTTPRequest, next handler: RequestHandler) {
    (self.request, self.handler) = (request, handler)
  }

  func next() -> RequestHandler.Answer { handler(request.attempt(counter.next())) }

  /// What the policy has decided about a failure.
  func learn(_ event: RetryEvent) {
    if case .stopped(let reason) = event.outcome { lastReason.withLock { $0 = reason } }
    request.call.learn(event)
  }

  /// The failure of the last attempt, with those before it.
  func last(_ failure: NetworkFailure) -> NetworkFailure {
    var failure = request.call.last(failure)
    failure.notRetriedBecause = lastReason.withLock { $0 }
    return failure
  }
}
