import Rebound

/// What all clients of one run do about a failure.
public struct ClientPolicy: Sendable {
  /// What the table calls it.
  public let name: String
  /// When to try again, and how late.
  let retry: RetryPolicy<ServerFailure>
  /// How many retries there may be for each request of a process.
  let budgetRatio: Double?
  /// When a process stops asking.
  let breaker: CircuitBreakerPolicy?

  /// Says what clients do about a failure.
  ///
  /// - Parameters:
  ///   - name: What the table calls it.
  ///   - retry: When to try again, and how late.
  ///   - budgetRatio: How many retries there may be for each request of a process; `nil` for any number.
  ///   - breaker: When a process stops asking; `nil` for never.
  public init(
    _ name: String,
    retry: RetryPolicy<ServerFailure>,
    budgetRatio: Double? = nil,
    breaker: CircuitBreakerPolicy? = nil
  ) {
    self.name = name
    self.retry = retry
    self.budgetRatio = budgetRatio
    self.breaker = breaker
  }

  /// The policies of the table, each a step further than the one before.
  ///
  /// - Throws: What the policies are refused with, if a number among them makes no sense.
  public static func ladder() throws -> [ClientPolicy] {
    func retry(_ backoff: Backoff, _ maxRetries: Int = 10) throws -> RetryPolicy<ServerFailure> {
      try RetryPolicy(maxRetries: maxRetries, backoff: backoff)
    }
    let plain = Backoff.exponential(from: .milliseconds(500), upTo: .seconds(20), jitter: .none)
    let spread = plain.jittered(.full)
    let breaker = try CircuitBreakerPolicy(
      failureRatio: 0.5,
      minimumCalls: 10,
      window: .time(.seconds(10)),
      openTime: .seconds(5),
      openGrowth: 1.5,
      maxOpenTime: .seconds(15),
      probes: 3
    )
    return [
      ClientPolicy("no retry", retry: try retry(.immediate, 0)),
      ClientPolicy("10 retries, at once", retry: try retry(.immediate)),
      ClientPolicy("10 retries, after 1 s", retry: try retry(.constant(.seconds(1)))),
      ClientPolicy("exponential, 0.5 s to 20 s", retry: try retry(plain)),
      ClientPolicy("… with full jitter", retry: try retry(spread)),
      ClientPolicy("… and a budget of 10 %", retry: try retry(spread), budgetRatio: 0.1),
      ClientPolicy("… and a circuit breaker", retry: try retry(spread), budgetRatio: 0.1, breaker: breaker),
    ]
  }
}

/// What the server's refusals are to a client.
public struct ServerFailure: Error, Hashable {
  /// Makes the failure.
  public init() {}
}
