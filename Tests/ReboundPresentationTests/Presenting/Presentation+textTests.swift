import Expectations
import Rebound
import ReboundPresentation
import Testing

@Suite("Presentations as text")
struct PresentationTextTests {
  @Test("an alert as it would stand on the screen")
  func alert() {
    let error = Trouble(recoverySuggestion: "Try again in a minute.")
    expectEqual(
      present(error, in: .action).rendered(),
      """
      [alert] That did not work
      The server is not well.
      Try again in a minute.
      (Try again) (Not now)
      """
    )
  }

  @Test("a countdown, and the progress of the next try")
  func countdown() {
    let presentation = present(Trouble.maintenance, in: .firstLoad)
    expectEqual(
      presentation.rendered(),
      """
      [fullScreen] Down for maintenance
      Temporarily unavailable.
      Trying again in 17 s
      (Try again)
      """
    )
    #expect(presentation.rendered(secondsLeft: 3).contains("Trying again in 3 s"))
    #expect(presentation.rendered(isRetrying: true).contains("Trying again …"))
  }

  @Test("what stands beside fields, and nothing for what is not shown")
  func fields() {
    expectEqual(present(Trouble.taken, in: .action).rendered(), "[inline userName] This name is taken.")
    expectEqual(Presentation.inline([FieldError(field: nil, message: "a")]).rendered(), "[inline ?] a")
    expectEqual(Presentation.ignore.rendered(), "")
  }

  @Test("a begun second counts, and no countdown is negative")
  func seconds() {
    let table: [(Duration, String)] = [
      (.milliseconds(1), "1 s"), (.seconds(2), "2 s"), (.milliseconds(2001), "3 s"), (.seconds(-5), "0 s"),
    ]
    for (duration, text) in table {
      let message = Presentation.Message(title: "a", text: "b", retryAfter: duration)
      #expect(Presentation.banner(message).rendered().hasSuffix("Trying again in \(text)"))
    }
  }
}
