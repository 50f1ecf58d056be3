import Foundation
import Testing

@Suite("Dump")
struct TemporaryDumpTests {
  @Test("dump") func dump() throws {
    var lines: [[String]] = []
    for example in ErrorExamples.all {
      for (row, error) in example.errors {
        let words = error as? any LocalizedError
        lines.append([
          example.module, row, words?.errorDescription ?? "nil", words?.recoverySuggestion ?? "nil", "\(error)",
        ])
      }
    }
    try JSONEncoder().encode(lines).write(to: URL(fileURLWithPath: "/tmp/h1-rows.json"))
  }
}
