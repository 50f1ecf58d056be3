import ReboundPresentation
import Testing

@Suite("PresentableError")
struct PresentableErrorTests {
  private struct Plain: PresentableError {}

  @Test("an error that says nothing is a failure that may pass")
  func defaults() {
    let error = Plain()
    #expect(!error.isCancellation && !error.isOffline && !error.needsSignIn && !error.mustUpdate)
    #expect(!error.isMaintenance)
    #expect(error.isRetryable)
    #expect(error.fieldErrors.isEmpty && error.choices.isEmpty)
  }
}
