import Expectations
import Rebound
import ReboundPresentation
import Testing

@Suite("PresentationQueuePolicy")
struct PresentationQueuePolicyTests {
  @Test("counts negative numbers and lengths of time as none")
  func clamps() {
    let policy = PresentationQueuePolicy(clamping: .seconds(-1), toastDuration: .seconds(-2), maxWaiting: -1)
    #expect((policy.mergeWindow, policy.toastDuration) == (.zero, .zero))
    expectEqual(policy.maxWaiting, 0)
  }

  @Test(
    "numbers that make no sense are refused, with their names",
    arguments: [
      ("mergeWindow", { @Sendable in try PresentationQueuePolicy(mergeWindow: .seconds(-1)) }),
      ("toastDuration", { @Sendable in try PresentationQueuePolicy(toastDuration: .zero) }),
      ("maxWaiting", { @Sendable in try PresentationQueuePolicy(maxWaiting: -1) }),
    ] as [(String, @Sendable () throws -> PresentationQueuePolicy)]
  )
  func refuses(setting: String, make: @Sendable () throws -> PresentationQueuePolicy) {
    expectEqual(#expect(throws: InvalidPolicy.self) { _ = try make() }?.setting, setting)
  }

  @Test("the standard policy is one that can be made")
  func standard() throws {
    try expectEqual(PresentationQueuePolicy(), .standard)
    try expectEqual(PresentationQueuePolicy(mergeWindow: .zero, maxWaiting: 0).maxWaiting, 0)
  }
}
