/// Where a ``RetryBudget`` keeps how many requests and retries there were: in memory for one process, elsewhere for many.
///
/// It is called from any thread, and none of its functions waits.
public protocol RetryAccount: Sendable {
  /// A request begins; its retries are asked for apart.
  func begin(at now: Duration)

  /// A request or a retry has failed with an error that is worth a retry.
  func fail()

  /// A request has succeeded, after a retry or without one.
  func succeed(afterRetry: Bool)

  /// Grants a retry by what is known here, or denies it.
  func grant(at now: Duration) -> RetryBudget.Retry?

  /// Whether a retry, which may wait, is to ask with ``ask(at:_:)``; false unless told otherwise.
  var answersLater: Bool { get }

  /// Grants a retry, or denies it, where the account is.
  ///
  /// - Parameters:
  ///   - now: The present, on the time of the execution.
  ///   - answer: Called once, now or later, on any thread. What is granted and then forgotten is given back.
  func ask(at now: Duration, _ answer: @escaping @Sendable (RetryBudget.Retry?) -> Void)

  /// What the account holds, as far as it is known here; reading it changes nothing.
  func snapshot(at now: Duration) -> RetryBudget.Snapshot
}

extension RetryAccount {
  /// It answers at once.
  public var answersLater: Bool { false }

  /// As ``grant(at:)``.
  public func ask(at now: Duration, _ answer: @escaping @Sendable (RetryBudget.Retry?) -> Void) {
    answer(grant(at: now))
  }
}
