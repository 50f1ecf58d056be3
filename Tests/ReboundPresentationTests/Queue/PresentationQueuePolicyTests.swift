import ReboundPresentation
import Testing

@Suite("PresentationQueuePolicy")
struct PresentationQueuePolicyTests {
  @Test("counts negative lengths of time as none")
  func clamps() {
    let policy = PresentationQueuePolicy(mergeWindow: .seconds(-1), toastDuration: .seconds(-2))
    #expect((policy.mergeWindow, policy.toastDuration) == (.zero, .zero))
  }
}
