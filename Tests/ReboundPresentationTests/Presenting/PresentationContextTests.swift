import ReboundPresentation
import Testing

@Suite("PresentationContext")
struct PresentationContextTests {
  @Test("only an action is initiated by a person, and only a first load has no content")
  func shorthands() {
    #expect(PresentationContext.firstLoad == PresentationContext())
    #expect(PresentationContext.refresh == PresentationContext(hasContent: true))
    #expect(PresentationContext.action == PresentationContext(isUserInitiated: true, hasContent: true))
    #expect(PresentationContext.typing(in: "a") == PresentationContext(hasContent: true, field: "a"))
  }
}
