import ReboundPresentation
import Testing

@Suite("AutomaticRetryPolicy")
struct AutomaticRetryPolicyTests {
  @Test("brings numbers that make no sense into range")
  func clamps() {
    let policy = AutomaticRetryPolicy(
      maximumInARow: -1,
      pause: .seconds(-1),
      maximumPause: .seconds(-2),
      minimumCountdown: .zero
    )
    #expect(policy.maximumInARow == 0)
    #expect((policy.pause, policy.maximumPause) == (.zero, .zero))
    #expect(policy.minimumCountdown == .milliseconds(100))
  }
}
