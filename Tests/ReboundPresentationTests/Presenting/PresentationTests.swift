import Expectations
import ReboundPresentation
import Testing

@Suite("Presentation")
struct PresentationTests {
  private let message = Presentation.Message(title: "Title", text: "Text")

  @Test("what stands in the way is announced at once, the rest when there is time, a cancel not at all")
  func announcements() {
    let table: [(Presentation, Presentation.Announcement)] = [
      (.ignore, .none), (.inline([]), .polite), (.toast(message), .polite), (.banner(message), .polite),
      (.alert(message), .assertive), (.fullScreen(message), .assertive), (.signIn(message), .assertive),
    ]
    for (presentation, announcement) in table { expectEqual(presentation.announcement, announcement) }
  }

  @Test("every presentation but ignore has a surface of its own")
  func surfaces() {
    let all: [Presentation] = [
      .inline([]), .toast(message), .banner(message), .alert(message), .fullScreen(message), .signIn(message),
    ]
    expectEqual(all.compactMap(\.surface), Presentation.Surface.allCases)
    expectEqual(all.compactMap(\.message).count, 5)
    #expect(Presentation.ignore.surface == nil)
  }
}
