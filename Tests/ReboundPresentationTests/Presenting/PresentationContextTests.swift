import Expectations
import ReboundPresentation
import Testing

@Suite("PresentationContext")
struct PresentationContextTests {
  @Test("only an action is initiated by a person, and only a first load has no content")
  func shorthands() {
    expectEqual(PresentationContext.firstLoad, PresentationContext())
    expectEqual(PresentationContext.refresh, PresentationContext(hasContent: true))
    expectEqual(PresentationContext.action, PresentationContext(isUserInitiated: true, hasContent: true))
    expectEqual(PresentationContext.typing(in: "a"), PresentationContext(hasContent: true, field: "a"))
  }
}
