@testable import Rebound

extension ErrorExamples {
  static let rebound = ErrorExamples(
    module: "Rebound",
    errors: [policies, refresh, around, settings, mistakes].flatMap { $0 }
  )

  private static let timeout = TimedOut(.total, limit: .seconds(9), name: "weather")

  private static let policies: [(row: String, error: any Error)] = [
    ("``TimedOut``", timeout),
    ("… of a stream that fell silent", TimedOut(.betweenValues, limit: .seconds(9), values: 3, name: "weather")),
    ("``CircuitOpen``", CircuitOpen(name: "weather", retryAfter: .seconds(9))),
    ("``BulkheadFull``", BulkheadFull(name: "weather", limit: 4, queued: 2)),
    ("``RateLimited``", RateLimited(name: "weather", retryAfter: .seconds(9), queued: 2)),
    ("``Throttled``", Throttled(name: "weather", refusalProbability: 0.5)),
    ("``RetriesSuspended``", RetriesSuspended(name: "weather")),
    ("``IdempotencyKeyUnknown``", IdempotencyKeyUnknown(key: "order 1")),
  ]

  private static let refresh: [(row: String, error: any Error)] = [
    ("``TokenRefreshFailure``: signed out", refreshFailure(.signedOut)),
    ("… session rejected", refreshFailure(.rejected)), ("… no credential granted", refreshFailure(.denied)),
    ("… refresh failed", refreshFailure(.failed)),
    ("… too many refreshes", refreshFailure(.tooManyRefreshes)),
  ]

  private static func refreshFailure(_ reason: TokenRefreshFailure.Reason) -> TokenRefreshFailure {
    TokenRefreshFailure(reason: reason, retryAfter: .seconds(9))
  }

  private static let around: [(row: String, error: any Error)] = [
    ("``FallbackFailed``", FallbackFailed(failure: RetriesSuspended(name: "forecast"), original: timeout)),
    (
      "``TracedError``",
      TracedError(
        underlying: timeout,
        trace: [Checkpoint(name: "forecast", fileID: "Weather/Client.swift", line: 42)]
      )
    ),
    ("``RetryExhausted``", RetryExhausted(attempts: 4, elapsed: .seconds(36), errors: [timeout], underlying: timeout)),
    ("``HedgesFailed``", HedgesFailed(errors: [(0, timeout), (1, timeout)], underlying: timeout)),
  ]

  private static let settings: [(row: String, error: any Error)] = [
    (
      "``InvalidPolicy``",
      InvalidPolicy(.retry, "maxRetries", -1, "Give 0 for no retry, or nil to retry for ever.")
    ), ("``InvalidPipeline``", InvalidPipeline(pipeline: "weather", mistake: .noStages, stages: [])),
  ]

  private static let mistakes: [(row: String, error: any Error)] = [
    ("``UnrepeatableUpstream``", UnrepeatableUpstream(pipeline: "weather", stage: .retry, upstream: "Future")),
    ("``FinishedWithoutValue``", FinishedWithoutValue()), ("``RefreshWithoutCredential``", RefreshWithoutCredential()),
  ]
}
