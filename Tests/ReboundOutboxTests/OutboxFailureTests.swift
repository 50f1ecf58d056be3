import Expectations
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
    expectEqual(OutboxFailure.unstorable(TooLarge()).localizedDescription, "The picture is too large.")
    expectEqual(OutboxFailure.unstorable(TooLarge()).recoverySuggestion, "Choose a smaller one.")
    expectEqual(OutboxFailure.unstorable(Silent()).localizedDescription, "This cannot be kept for later.")
    expectEqual(OutboxFailure.unstorable(Silent()).recoverySuggestion, "Please update the app, or report this.")
  }

  @Test("what the storage could not do has the storage's reason, and says no path to people")
  func storage() {
    let failure = OutboxFailure.storage(OutboxStorageFailure.system("write", path: "/box", reason: "No space left"))
    expectEqual(failure.localizedDescription, "This could not be kept for later.")
    expectEqual(failure.failureReason, "What is kept for later cannot be read or written.")
    expectEqual(failure.recoverySuggestion, "Make some space, and try again.")
    #expect(failure.description.contains("/box"))
    #expect(OutboxFailure.storage(Silent()).failureReason == nil)
    expectEqual(OutboxFailure.storage(Silent()).recoverySuggestion, "Try again.")
    #expect(OutboxFailure.closed.failureReason == nil)
  }
}
