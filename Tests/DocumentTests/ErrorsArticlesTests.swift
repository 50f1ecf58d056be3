import Foundation
import Rebound
import ReboundHTTP
import Testing

/// What the articles "Errors and their words" say, and their code, as it stands there.
@Suite("The articles about errors and their words")
struct ErrorsArticlesTests {
  /// Who uses these modules writes tests, so their errors have a description alone.
  private static let modulesForTests: Set = [
    "ReboundHTTPTesting", "ReboundStoreTesting", "ReboundStorm", "ReboundTesting", "ReboundTestingTraits",
  ]

  /// All that the modules declare.
  private static let declared: ErrorTypes = {
    var types = ErrorTypes()
    let files = FileManager.default.enumerator(at: ErrorTable.sources, includingPropertiesForKeys: nil)
    for case let file as URL in files?.allObjects ?? [] where file.pathExtension == "swift" {
      let module = file.pathComponents.drop { $0 != "Sources" }.dropFirst().first ?? ""
      if let source = try? String(contentsOf: file, encoding: .utf8) { types.read(source, of: module) }
    }
    return types
  }()

  @Test("errors are found however they are declared")
  func declarations() {
    var types = ErrorTypes()
    types.read(
      #"""
      import struct Foundation.Data
      // public struct Comment: Error {}
      public struct Plain: Error, Sendable { let text = "public struct Text: Error {" }
      struct Hidden: Error {}
      enum Kind { case actor(Kind), other }
      public final class Box<Failure: Error>: Sendable {
        public enum Inside<A: Collection>: Hashable, Error where A: Sendable { case one }
      }
      extension Box { public struct Extended: Swift.Error {} }
      public struct Late { let text = "\(["{"].first ?? "}")" }
      extension Late: Hashable {}
      extension Late: LocalizedError {}
      public protocol Pausing: Error {}
      public struct Paused: Pausing {}
      public struct Raw { let text = #"\("#; /* { /* { */ */ }
      public struct Wrapper<Failure>: Sendable where Failure: Error {}
      """#,
      of: "M"
    )
    #expect(types.names(in: "M") == ["Plain", "Box.Inside", "Box.Extended", "Late", "Paused"])
    #expect(types.names(in: "N") == [])
  }

  @Test("have a row for each public error, and for nothing else")
  func rows() {
    #expect(Self.declared.names(in: "Rebound").isSuperset(of: ["TimedOut", "CircuitOpen", "RetryExhausted"]))
    for module in Self.declared.modules {
      let declared = Self.declared.names(in: module)
      let named = ErrorTable(of: module).rows.flatMap(ErrorTable.names)
      let known = named.map { name in declared.contains(name) ? name : name.withoutLastName }
      #expect(declared.subtracting(known).sorted() == [], "\(module) has errors that its article does not name")
      #expect(Set(known).subtracting(declared).sorted() == [], "\(module)'s article names what is no error of it")
    }
  }

  @Test("say what the errors say, to people and in a log", arguments: ErrorExamples.all)
  func words(_ example: ErrorExamples) throws {
    let rows = ErrorTable(of: example.module).rows
    let ofOtherBuilds = rows.filter { row in
      ErrorTable.names(in: row).contains { ErrorExamples.unbuilt.contains($0) }
    }
    #expect(Set(rows.map { $0[0] }).subtracting(ofOtherBuilds.map { $0[0] }) == Set(example.errors.map(\.row)))
    for (name, error) in example.errors {
      let row = try #require(rows.first { $0[0] == name }, "\(example.module) has no row \(name)")
      let description = "\(error)"
      if Self.modulesForTests.contains(example.module) {
        #expect(row.count == 3, "\(name)")
        #expect(row[1] == description.components(separatedBy: "\n")[0], "\(name)")
        #expect(row[2].count > 5, "\(name) does not say what to do")
      } else {
        let words = try #require(error as? any LocalizedError, "\(name) has no words for people")
        let happened = try #require(words.errorDescription)
        let isSame = happened == description
        #expect(row[1...] == [isSame ? "the same" : happened, words.recoverySuggestion ?? "—", description], "\(name)")
        #expect(!description.contains("\n"), "\(name) takes more than a line of a log")
      }
    }
  }

  @Test("what people read has one key for all names and numbers, so that a table of translations can have it")
  func keys() {
    for example in ErrorExamples.all where !Self.modulesForTests.contains(example.module) {
      for (name, error) in example.errors {
        guard let words = error as? any LocalizedError, words.errorDescription != "\(error)" else { continue }
        for text in [words.errorDescription, words.recoverySuggestion].compactMap({ $0 }) {
          let isNamed = ErrorExamples.names.contains { text.contains($0) }
          #expect(!isNamed, "\(name) names what a table of translations cannot know: \(text)")
          #expect(text.split { !$0.isNumber }.count <= 1, "\(name) has more than one number: \(text)")
          #expect(!text.contains("%"), "\(name) would be taken for a format: \(text)")
        }
      }
    }
  }

  @Test("a sentence is the key of its translation, with a place for its number")
  func sentences() throws {
    /// What happened and what to do next, in the language of the person.
    func words(for error: any Error, in bundle: Bundle) -> (happened: String, next: String?) {
      func translated(_ english: String) -> String {
        // "Try again in 9 seconds." has the key "Try again in %lld seconds.".
        let numbers = english.split { !$0.isWholeNumber }.compactMap { Int64($0) }
        let key = numbers.reduce(english) { $0.replacingOccurrences(of: "\($1)", with: "%lld") }
        let text = bundle.localizedString(forKey: key, value: key, table: "Errors")
        return text == key ? english : String(format: text, arguments: numbers)
      }
      let english = error as? any LocalizedError
      return (
        translated(english?.errorDescription ?? "Something went wrong."), english?.recoverySuggestion.map(translated)
      )
    }

    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Errors-\(UUID()).bundle")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let table = """
      "The service does not answer as it should." = "Der Dienst antwortet nicht, wie er soll.";
      "Try again in %lld seconds." = "Versuchen Sie es in %lld Sekunden noch einmal.";
      """
    try Data(table.utf8).write(to: folder.appendingPathComponent("Errors.strings"))
    let german = try #require(Bundle(path: folder.path))

    let open = words(for: CircuitOpen(name: "weather", retryAfter: .seconds(9)), in: german)
    #expect(open.happened == "Der Dienst antwortet nicht, wie er soll.")
    #expect(open.next == "Versuchen Sie es in 9 Sekunden noch einmal.")
    let timeout = words(for: TimedOut(.total, limit: .seconds(1)), in: german)
    #expect(timeout.happened == "The service did not answer in time.")
    #expect(timeout.next == "Try again.")
    #expect(words(for: CancellationError(), in: german).happened == "Something went wrong.")
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

extension String {
  /// A name without what stands behind its last dot: "InvalidSession" of "InvalidSession.noHistory".
  fileprivate var withoutLastName: String { split(separator: ".").dropLast().joined(separator: ".") }
}
