import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("The presets of Pipeline", .virtualTime)
struct PipelinePresetsTests {
  private let isTransient: @Sendable (any Error) -> Bool = { ($0 as? TestFailure)?.isTransient ?? false }

  @Test("have the numbers that their documentation says")
  func numbers() throws {
    try expectEqual(
      Pipeline<Int>.http("api", transient: isTransient).description,
      """
      api
        bulkhead "api"
        timeout (total: 30.0 seconds)
        retry (maxRetries: 3, backoff: exponential from 2.0 seconds ×2.0, up to 20.0 seconds, full jitter, \
      when: some failures, budget: shared)
        circuit breaker "api"
        timeout (attempt: 10.0 seconds)
      """
    )
    try expectEqual(
      Pipeline<Int>.mobile("api", transient: isTransient).description,
      """
      api
        timeout (total: 20.0 seconds)
        retry (maxRetries: 2, backoff: exponential from 0.5 seconds ×2.0, up to 5.0 seconds, full jitter, \
      when: some failures, budget: shared)
        circuit breaker "api"
        timeout (attempt: 8.0 seconds)
      """
    )
    try expectEqual(
      Pipeline<Int>.background("api", transient: isTransient).description,
      """
      api
        bulkhead "api"
        timeout (total: 600.0 seconds)
        retry (maxRetries: 5, backoff: exponential from 5.0 seconds ×2.0, up to 120.0 seconds, full jitter, \
      when: some failures, budget: shared)
        circuit breaker "api"
        timeout (attempt: 60.0 seconds)
      """
    )
  }

  @Test("retry what is transient, and a timeout only where that is harmless", arguments: [true, false])
  func retries(isHarmless: Bool) throws {
    let scheduler = TestScheduler.current
    let pipeline = try Pipeline<Int>.mobile(
      "api",
      repetition: isHarmless ? .harmless : .harmful,
      time: scheduler.time,
      random: .seeded(1),
      transient: isTransient
    )
    func calls(_ answer: TestFailure?) -> Int {
      let upstream = TestPublisher<Int, TestFailure> { connection in
        if let answer { connection.send(completion: .failure(answer)) }
      }
      upstream.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
      scheduler.advance(by: .seconds(60))
      return upstream.subscriptionCount
    }
    expectEqual(calls(.permanent), 1)
    expectEqual(calls(.transient), 3)
    expectEqual(calls(nil), isHarmless ? 2 : 1)
  }
}
