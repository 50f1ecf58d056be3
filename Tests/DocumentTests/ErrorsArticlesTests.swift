import Foundation
import Rebound
import ReboundHTTP
import ReboundStore
import Testing

/// What the articles "Errors and their words" say, and their code, as it stands there.
@Suite("The articles about errors and their words")
struct ErrorsArticlesTests {
  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
      "Sources"
    )

  /// The rows of the tables of a module's article.
  private func rows(of module: String) throws -> [String] {
    let file = Self.sources.appendingPathComponent("\(module)/\(module).docc/Errors-and-their-words.md")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init).filter {
      $0.hasPrefix("|")
    }
  }

  private static func refresh(_ reason: TokenRefreshFailure.Reason) -> TokenRefreshFailure {
    TokenRefreshFailure(reason: reason, retryAfter: .seconds(9))
  }

  @Test(
    "say what people read, and what to do",
    arguments: [
      ("Rebound", "``TimedOut``", TimedOut(.total, limit: .seconds(1))),
      ("Rebound", "fell silent", TimedOut(.betweenValues, limit: .seconds(1))),
      ("Rebound", "``CircuitOpen``", CircuitOpen(name: "weather", retryAfter: .seconds(9))),
      ("Rebound", "``BulkheadFull``", BulkheadFull(name: "weather", limit: 1, queueLength: 0)),
      ("Rebound", "``RateLimited``", RateLimited(name: "weather", retryAfter: .seconds(9), queueLength: 0)),
      ("Rebound", "``Throttled``", Rebound.Throttled(name: "weather", refusalProbability: 0.5)),
      ("Rebound", "``RetriesSuspended``", RetriesSuspended(name: "weather")),
      ("Rebound", "signed out", refresh(.signedOut)), ("Rebound", "session rejected", refresh(.rejected)),
      ("Rebound", "no credential granted", refresh(.denied)), ("Rebound", "refresh failed", refresh(.failed)),
      ("Rebound", "too many refreshes", refresh(.excessive)),
      ("Rebound", "``IdempotencyKeyUnknown``", IdempotencyKeyUnknown(key: "order 1")),
      ("Rebound", "``OutboxFull``", OutboxFull(pending: 1, deadLetters: 0, bytes: 1, capacity: 1, maxBytes: 9)),
      ("ReboundHTTP", "``MayHaveArrived``", MayHaveArrived(setback: nil)),
      ("ReboundHTTP", "``RequestBodyTooLarge``", RequestBodyTooLarge(limit: 9)),
      ("ReboundStore", "``InvalidSession/noHistory``", InvalidSession.noHistory),
      ("ReboundStore", "``InvalidSession/beginningForgotten(_:)``", InvalidSession.beginningForgotten(3)),
      ("ReboundStore", "``InvalidSession/unknownVersion(_:)``", InvalidSession.unknownVersion(9)),
    ] as [(String, String, any LocalizedError)]
  )
  func tables(module: String, name: String, error: any LocalizedError) throws {
    let row = try #require(try rows(of: module).first { $0.contains(name) })
    #expect(row.contains(try #require(error.errorDescription)))
    if let suggestion = error.recoverySuggestion { #expect(row.contains(suggestion)) }
  }

  @Test("a sentence is the key of its translation")
  func sentences() {
    /// What happened, in the language of the person.
    func words(for error: any Error, in bundle: Bundle) -> String {
      let english = (error as? any LocalizedError)?.errorDescription ?? "Something went wrong."
      return bundle.localizedString(forKey: english, value: english, table: "Errors")
    }

    #expect(words(for: TimedOut(.total, limit: .seconds(1)), in: .main) == "The service did not answer in time.")
    #expect(words(for: FinishedWithoutValue(), in: .main) == "Something went wrong.")
  }

  @Test("the texts of a client's failures come from a table, and are English where it has none")
  func table() {
    // Without a table in it, so that tests beside this one read the same texts as before.
    let bundle = Bundle.main
    defer { NetworkFailure.Texts.current = .english }

    NetworkFailure.Texts.current = NetworkFailure.Texts { key, english in
      NetworkFailure.Texts.Text(
        description: bundle.localizedString(forKey: "\(key).description", value: english.description, table: "Errors"),
        reason: english.reason.map { bundle.localizedString(forKey: "\(key).reason", value: $0, table: "Errors") },
        suggestion: english.suggestion.map {
          bundle.localizedString(forKey: "\(key).suggestion", value: $0, table: "Errors")
        }
      )
    }
    #expect(NetworkFailure(.notFound).localizedDescription == "It was not found.")
    #expect(NetworkFailure(.notFound).recoverySuggestion == "Check what you are looking for.")
  }
}
