import Expectations
import Rebound
import ReboundPresentation
import Testing

@Suite("AutomaticRetryPolicy")
struct AutomaticRetryPolicyTests {
  @Test("brings numbers that make no sense into range")
  func clamps() {
    let policy = AutomaticRetryPolicy(
      clamping: -1,
      pause: .seconds(-1),
      maxPause: .seconds(-2),
      minimumCountdown: .zero
    )
    expectEqual(policy.maxInARow, 0)
    #expect((policy.pause, policy.maxPause) == (.zero, .zero))
    expectEqual(policy.minimumCountdown, .milliseconds(100))
  }

  @Test(
    "numbers that make no sense are refused, with their names",
    arguments: [
      ("maxInARow", { @Sendable in try AutomaticRetryPolicy(maxInARow: -1) }),
      ("pause", { @Sendable in try AutomaticRetryPolicy(pause: .seconds(-1)) }),
      ("maxPause", { @Sendable in try AutomaticRetryPolicy(pause: .seconds(3), maxPause: .seconds(2)) }),
      ("minimumCountdown", { @Sendable in try AutomaticRetryPolicy(minimumCountdown: .milliseconds(99)) }),
    ] as [(String, @Sendable () throws -> AutomaticRetryPolicy)]
  )
  func refuses(setting: String, make: @Sendable () throws -> AutomaticRetryPolicy) {
    expectEqual(#expect(throws: InvalidPolicy.self) { _ = try make() }?.setting, setting)
  }

  @Test("the standard policy is one that can be made")
  func standard() throws {
    try expectEqual(AutomaticRetryPolicy(), .standard)
    #expect(try AutomaticRetryPolicy(maxInARow: nil, pause: .zero, maxPause: .zero).maxInARow == nil)
  }
}
