import Rebound
import Testing

@Suite("CircuitBreakerPolicy")
struct CircuitBreakerPolicyTests {
  @Test("refuses numbers that make no sense, and says what to give instead")
  func refuses() {
    #expect(throws: InvalidCircuitBreakerPolicy.ratioOutOfRange(0)) { try CircuitBreakerPolicy(failureRatio: 0) }
    #expect(throws: InvalidCircuitBreakerPolicy.ratioOutOfRange(1.5)) {
      try CircuitBreakerPolicy(probeFailureRatio: 1.5)
    }
    #expect(throws: InvalidCircuitBreakerPolicy.countNotPositive(0)) { try CircuitBreakerPolicy(probes: 0) }
    #expect(throws: InvalidCircuitBreakerPolicy.windowTooSmall(5, minimumCalls: 10)) {
      try CircuitBreakerPolicy(window: .calls(5))
    }
    #expect(throws: InvalidCircuitBreakerPolicy.durationNotPositive(.zero)) {
      try CircuitBreakerPolicy(openTime: .zero)
    }
    #expect(throws: InvalidCircuitBreakerPolicy.durationNotPositive(.zero)) {
      try CircuitBreakerPolicy(window: .time(.zero))
    }
    #expect(throws: InvalidCircuitBreakerPolicy.growthOutOfRange(0.5)) { try CircuitBreakerPolicy(openGrowth: 0.5) }
    #expect(throws: InvalidCircuitBreakerPolicy.maxBelowOpenTime(.seconds(1), openTime: .seconds(30))) {
      try CircuitBreakerPolicy(maxOpenTime: .seconds(1))
    }
    for jitter in [-0.1, 1.1, .nan] {
      #expect(throws: InvalidCircuitBreakerPolicy.self) { try CircuitBreakerPolicy(openJitter: jitter) }
    }
    #expect(
      "\(InvalidCircuitBreakerPolicy.jitterOutOfRange(2))"
        == "Circuit breaker: openJitter is 2.0. Give a number from 0 to 1; 0.1 is a tenth up or down."
    )
    #expect(
      "\(InvalidCircuitBreakerPolicy.countNotPositive(0))"
        == "Circuit breaker: a number of calls is 0. Give at least 1."
    )
  }
}
