import Expectations
import Foundation
import ReboundPresentation
import Testing

@Suite("ErrorWords")
struct ErrorWordsTests {
  @Test("takes description, reason and suggestion of a LocalizedError")
  func localized() {
    let words = ErrorWords(
      of: Trouble(errorDescription: "It failed.", failureReason: "The disk is full.", recoverySuggestion: "Make room.")
    )
    expectEqual(words.text, "It failed. The disk is full.")
    expectEqual(words.suggestion, "Make room.")
  }

  @Test("says a reason that repeats the description once")
  func repeated() {
    expectEqual(ErrorWords(of: Trouble(errorDescription: "No.", failureReason: "No.")).text, "No.")
  }

  @Test("has general words for an error without any, never those made for developers")
  func general() {
    expectEqual(ErrorWords(of: Silent()).text, "Something went wrong.")
  }
}
