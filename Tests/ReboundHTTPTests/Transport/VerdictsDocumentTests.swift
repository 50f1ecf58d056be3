import Expectations
import Foundation
import ReboundHTTPTesting
import Testing

@testable import ReboundHTTP

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
    expectEqual(listed, Self.rows, "The table should be:\n\(Self.rows.joined(separator: "\n"))")
  }

  @Test("lists what a proxy may do with the verdicts that the tests expect")
  func proxyTable() throws {
    let lines = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n").map(String.init)
    let rows = ProxyCase.all.map { "| \($0.name) | `\($0.http)` | `\($0.https)` |" }
    let start = try #require(lines.firstIndex { $0.hasPrefix("| The proxy") })
    let listed = lines[(start + 2)...].prefix { $0.hasPrefix("|") }
    expectEqual(Array(listed), rows, "The table should be:\n\(rows.joined(separator: "\n"))")
  }

  @Test("lists what other clients throw with the verdicts that are given")
  func foreignTable() throws {
    let lines = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n").map(String.init)
    let rows = ForeignVerdicts.rows.map {
      "| `\($0.type)` | \($0.words ?? "") | `\(FaultCase.Verdict.failure($0.verdict.kind))` |"
    }
    let start = try #require(lines.firstIndex { $0.hasPrefix("| Error | Its words") })
    let listed = lines[(start + 2)...].prefix { $0.hasPrefix("|") }
    expectEqual(Array(listed), rows, "The table should be:\n\(rows.joined(separator: "\n"))")
  }

  @Test("lists how TLS may break with the verdicts that the tests expect")
  func secureTable() throws {
    try expectTable(
      behind: "| The connection",
      SecureFaultCase.all.map { "| \($0.name) | `\($0.beforeHead)` | `\($0.inBody)` |" }
    )
  }

  @Test("lists what a server of HTTP/2 may do with the verdicts that the tests expect")
  func http2Table() throws {
    try expectTable(
      behind: "| The server",
      HTTP2FaultCase.all.map { faultCase in
        let verdict =
          faultCase == .refusedOrder ? "`\(faultCase.verdict)`; Foundation stops" : "`\(faultCase.verdict)`"
        let counts = faultCase.requestCounts
        let count = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) or more"
        return "| \(faultCase.name) | \(faultCase.isOrder ? "an order" : "GET") | \(verdict) | \(count) |"
      }
    )
  }

  private func expectTable(behind head: String, _ rows: [String]) throws {
    let lines = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix(head) })
    let listed = lines[(start + 2)...].prefix { $0.hasPrefix("|") }
    expectEqual(Array(listed), rows, "The table should be:\n\(rows.joined(separator: "\n"))")
  }
}
