import ReboundPresentation
import Testing

@Suite("PresentationQueuePolicy")
struct PresentationQueuePolicyTests {
  @Test("counts negative numbers and lengths of time as none")
  func clamps() {
    let policy = PresentationQueuePolicy(mergeWindow: .seconds(-1), toastDuration: .seconds(-2), maximumWaiting: -1)
    #expect((policy.mergeWindow, policy.toastDuration) == (.zero, .zero))
    #expect(policy.maximumWaiting == 0)
  }
}
