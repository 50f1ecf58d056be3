import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RetryLog")
struct RetryLogTests {
  private struct Failed: Error {}

  @Test("keeps decisions in order")
  func keeps() {
    let log = RetryLog()
    log.write(RetryEvent(attempt: 1, error: Failed(), delay: .seconds(1), delaySource: .computed, outcome: .retrying))
    log.write(RetryEvent(attempt: 2, error: Failed(), outcome: .stopped(.attemptsExhausted)))
    expectEqual(log.events.map(\.attempt), [1, 2])
    expectEqual(log.delays, [.seconds(1), nil])
    expectEqual(log.outcomes, [.retrying, .stopped(.attemptsExhausted)])
  }
}
