import Foundation
import MisbehavingServer
import Testing

@Suite("Verdicts.md")
struct VerdictsDocumentTests {
  static let document = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Documentation/Verdicts.md")

  /// One row for each fault; those of a plain status in one.
  static var rows: [String] {
    FaultCase.all.compactMap { faultCase in
      if faultCase.fault.name.hasPrefix("status ") { return nil }
      let head = faultCase.verdictOfHead == faultCase.verdict ? "" : "`\(faultCase.verdictOfHead)`"
      return "| \(faultCase.fault.name) | \(faultCase.fault.phase.rawValue) | `\(faultCase.verdict)` | \(head) |"
    }
  }

  @Test("lists each fault with the verdict that the tests expect")
  func table() throws {
    let lines = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n").map(String.init)
    let phases = Fault.Phase.allCases.map(\.rawValue)
    let listed = lines.filter { line in phases.contains { line.contains("| \($0) |") } }
    #expect(listed == Self.rows, "The table should be:\n\(Self.rows.joined(separator: "\n"))")
  }
}
