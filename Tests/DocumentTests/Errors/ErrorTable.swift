import Foundation

/// The table of a module's article "Errors and their words".
struct ErrorTable {
  /// The folder with a folder for each module.
  static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

  /// The cells of each row, without the heads of the tables.
  let rows: [[String]]

  /// Reads the table of a module; it has no rows if the module has no such article.
  init(of module: String) {
    let file = Self.sources.appendingPathComponent("\(module)/\(module).docc/Errors-and-their-words.md")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("|") }
    rows = lines.map { $0.dropFirst(2).dropLast(2).components(separatedBy: " | ") }.filter {
      $0[0] != "error" && !$0[0].hasPrefix("--")
    }
  }

  /// What a row is about: names in code, those of members with a dot.
  static func names(in row: [String]) -> [String] {
    let pieces = row[0].split(separator: "`")
    // Of pieces between marks every second one is code; a row begins with code, or is one more of the error before.
    return stride(from: row[0].hasPrefix("`") ? 0 : 1, to: pieces.count, by: 2).map {
      pieces[$0].replacingOccurrences(of: "/", with: ".")
    }
  }
}
