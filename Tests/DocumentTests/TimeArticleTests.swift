import Rebound
import ReboundTesting
import Testing

/// The code of Sources/Rebound/Rebound.docc/Time.md, as it stands there.
@Suite("The code of the article on time")
struct TimeArticleTests {
  private struct Outage: Error {}

  @Test("a test says its time once, around everything")
  func once() async throws {
    let scheduler = TestScheduler()
    try await TimeSource.$current.withValue(scheduler.time) {
      let breaker = CircuitBreaker(
        "api",
        policy: try CircuitBreakerPolicy(consecutiveFailures: 1, openTime: .seconds(30))
      )
      _ = try? await breaker.run { throw Outage() }
      await #expect(throws: CircuitOpen.self) { try await breaker.run {} }
      scheduler.advance(by: .seconds(30))
      try await breaker.run {}
    }
  }
}
