import Expectations
import Rebound
import Testing

@Suite("Rules of a CircuitBreakerPolicy")
struct CircuitBreakerPolicyRulesTests {
  /// What becomes of calls that fail or succeed, one after the other, all at the same moment.
  private func states(_ policy: CircuitBreakerPolicy, _ calls: [Bool]) -> [CircuitBreaker.State] {
    var machine = CircuitBreakerMachine(policy)
    return calls.map { succeeds in
      if case .granted(let permit) = machine.admit(now: .zero) {
        machine.settle(permit, succeeds ? .success : .failure(hint: nil), now: .zero)
      }
      return machine.state
    }
  }

  private let inTurn = (0..<100).map { $0 % 2 == 0 }

  @Test("where failures in a row are the rule, a share of failures is none")
  func consecutive() throws {
    for policy in [try CircuitBreakerPolicy.consecutive(3), try CircuitBreakerPolicy(consecutiveFailures: 3)] {
      #expect(policy.failureRatio == nil)
      #expect(states(policy, inTurn).allSatisfy { $0 == .closed })
      expectEqual(states(policy, [false, false, true, false, false, false]).last, .open)
      expectEqual(states(policy, [true, false, false]).last, .closed)
    }
  }

  @Test("where a share is the rule, failures in a row are none")
  func ratio() throws {
    let policy = try CircuitBreakerPolicy.ratio(0.5, minimumCalls: 20, window: .calls(20))
    #expect(policy.consecutiveFailures == nil && policy.slowness == nil)
    expectEqual(states(policy, (0..<19).map { _ in false }).last, .closed)
    expectEqual(states(policy, (0..<20).map { $0 < 10 }).last, .open)
    #expect(states(policy, (0..<40).map { $0 % 20 < 11 }).allSatisfy { $0 == .closed })
  }

  @Test("rules that are named together count together; where none is named, half of the calls is the rule")
  func named() throws {
    let both = try CircuitBreakerPolicy(failureRatio: 0.5, consecutiveFailures: 3)
    #expect(states(both, inTurn).contains(.open))
    expectEqual(states(both, [false, false, false]).last, .open)
    try expectEqual(CircuitBreakerPolicy().failureRatio, 0.5)
    try expectEqual(CircuitBreakerPolicy(openTime: .seconds(9)).failureRatio, 0.5)
    let slow = CircuitBreakerPolicy.Slowness(duration: .seconds(1), ratio: 0.5)
    #expect(try CircuitBreakerPolicy(slowness: slow).failureRatio == nil)
    try expectEqual(CircuitBreakerPolicy(failureRatio: 0.2, slowness: slow).failureRatio, 0.2)
  }

  @Test("it stays open for as long as it is said, each time", arguments: [15, 900])
  func openTime(seconds: Int) throws {
    for policy in [
      try CircuitBreakerPolicy.consecutive(1, openFor: .seconds(seconds)),
      try CircuitBreakerPolicy.ratio(1, minimumCalls: 1, openFor: .seconds(seconds)),
    ] {
      var machine = CircuitBreakerMachine(policy)
      var now = Duration.zero
      for _ in 0..<4 {
        guard case .granted(let permit) = machine.admit(now: now) else {
          Issue.record("it is open for longer")
          return
        }
        machine.settle(permit, .failure(hint: nil), now: now)
        expectEqual(machine.admit(now: now), .rejected(retryAfter: .seconds(seconds)))
        now += .seconds(seconds)
      }
    }
  }

}
