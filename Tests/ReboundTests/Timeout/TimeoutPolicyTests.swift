import Rebound
import Testing

@Suite("TimeoutPolicy")
struct TimeoutPolicyTests {
  @Test("refuses limits that make no sense, and says what to give instead")
  func refuses() {
    let none = #expect(throws: InvalidTimeoutPolicy.noLimit) { try TimeoutPolicy() }
    #expect(none?.description == "Timeout: there is no limit. Give at least one, or leave the timeout out.")
    let zero = #expect(throws: InvalidTimeoutPolicy.limitNotPositive(.zero)) { try TimeoutPolicy(total: .zero) }
    #expect(zero?.description == "Timeout: a limit is 0.0 seconds. Give a positive duration, or nil for none.")
    #expect(throws: InvalidTimeoutPolicy.limitNotPositive(.seconds(-1))) {
      try TimeoutPolicy(total: .seconds(1), betweenValues: .seconds(-1))
    }
  }

  @Test("brings limits into range where it cannot refuse them")
  func clamps() {
    #expect(TimeoutPolicy.total(.seconds(-1)).total == .zero)
    #expect(TimeoutPolicy.betweenValues(.seconds(Int64.max)).betweenValues == .seconds(1_000_000_000))
  }
}
