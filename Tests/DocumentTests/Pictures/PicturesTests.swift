import Foundation
import Testing

/// With REBOUND_WRITE_PICTURES=1 in the environment, the pictures are drawn anew before they are looked at.
@Suite("The pictures of Rebound's reference")
struct PicturesTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/Rebound/Rebound.docc/Resources")

  @Test("show what the code does today", arguments: Picture.all)
  func golden(picture: Picture) throws {
    let file = Self.folder.appendingPathComponent("\(picture.name).svg")
    let svg = try picture.svg()
    if ProcessInfo.processInfo.environment["REBOUND_WRITE_PICTURES"] == "1" {
      try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
      try Data(svg.utf8).write(to: file)
    }
    let committed = try String(contentsOf: file, encoding: .utf8)
    #expect(committed == svg, "\(picture.name) is out of date: run the tests once with REBOUND_WRITE_PICTURES=1.")
  }

  @Test("are all in use, each with words for those who do not see it")
  func inUse() throws {
    let catalogue = Self.folder.deletingLastPathComponent()
    let articles = try FileManager.default.subpathsOfDirectory(atPath: catalogue.path)
      .filter { $0.hasSuffix(".md") }
      .map { try String(contentsOf: catalogue.appendingPathComponent($0), encoding: .utf8) }
      .joined()
    let files = try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
      .map { $0.deletingPathExtension().lastPathComponent }
    #expect(Set(files) == Set(Picture.all.map(\.name)))
    for name in files {
      #expect(articles.contains(try Regex("!\\[[^\\]]{20,}\\]\\(\(name)\\)")), "\(name)")
    }
  }
}

extension Picture: CustomTestStringConvertible {
  var testDescription: String { name }
}
