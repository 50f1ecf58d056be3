import Foundation
import Rebound
import ReboundOutbox
import Testing

@Suite("OutboxFailure")
struct OutboxFailureTests {
  private struct TooLarge: LocalizedError {
    var errorDescription: String? { "The picture is too large." }
    var recoverySuggestion: String? { "Choose a smaller one." }
  }
  private struct Silent: Error {}

  @Test("what cannot be stored says so in its own words, and in general ones if it has none")
  func unstorable() {
    #expect(OutboxFailure.unstorable(TooLarge()).localizedDescription == "The picture is too large.")
    #expect(OutboxFailure.unstorable(TooLarge()).recoverySuggestion == "Choose a smaller one.")
    #expect(OutboxFailure.unstorable(Silent()).localizedDescription == "This cannot be kept for later.")
    #expect(OutboxFailure.unstorable(Silent()).recoverySuggestion == "Please update the app, or report this.")
  }

  @Test("what the storage could not do has the storage's reason, and says no path to people")
  func storage() {
    let failure = OutboxFailure.storage(OutboxStorageFailure.system("write", path: "/box", reason: "No space left"))
    #expect(failure.localizedDescription == "This could not be kept for later.")
    #expect(failure.failureReason == "What is kept for later cannot be read or written.")
    #expect(failure.recoverySuggestion == "Make some space, and try again.")
    #expect(failure.description.contains("/box"))
    #expect(OutboxFailure.storage(Silent()).failureReason == nil)
    #expect(OutboxFailure.storage(Silent()).recoverySuggestion == "Try again.")
    #expect(OutboxFailure.closed.failureReason == nil)
  }
}
