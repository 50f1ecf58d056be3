import Combine

@testable import ReboundStorm

extension ErrorExamples {
  static let storm = ErrorExamples(
    module: "ReboundStorm",
    errors: [
      (
        "``InvalidScenario``",
        InvalidScenario(
          setting: "duration",
          value: "-1.0",
          advice: "Give a positive number of seconds, at most 1e8."
        )
      ),
      ("``UnplayablePipeline``", UnplayablePipeline(pipeline: "weather")),
      ("``EndlessMoment``", EndlessMoment(seconds: 20)),
      ("``UnpredictablePolicy``", UnpredictablePolicy(stage: "circuit breaker")),
      ("``ServiceFailure/refused``", ServiceFailure.refused),
      ("``ServiceFailure/unavailable``", ServiceFailure.unavailable),
    ] + failures
  )

  /// One that is played, since a storm is what came of a play.
  private static let failures: [(row: String, error: any Error)] = {
    let storm = try? Storm.playCalls(.minuteOfOutage(clients: 100), name: "two retries", answer: ()) { call, _ in
      call.retry(2).eraseToAnyPublisher()
    }
    guard let storm else { return [] }
    return [("``StormFailure``", StormFailure(expectation: "recovers within 5.0 seconds", storm: storm))]
  }()
}
