import Foundation
import Testing

/// With REBOUND_WRITE_PICTURES=1 in the environment, the pictures are drawn anew before they are looked at.
@Suite("The pictures of the reference")
struct PicturesTests {
  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources")

  private static func resources(of catalogue: String) -> URL {
    sources.appendingPathComponent("\(catalogue)/\(catalogue).docc/Resources")
  }

  @Test("show what the code does today", arguments: Picture.all)
  func golden(picture: Picture) throws {
    let folder = Self.resources(of: picture.catalogue)
    let file = folder.appendingPathComponent("\(picture.name).svg")
    let svg = try picture.svg()
    if ProcessInfo.processInfo.environment["REBOUND_WRITE_PICTURES"] == "1" {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(svg.utf8).write(to: file)
    }
    let committed = try String(contentsOf: file, encoding: .utf8)
    #expect(committed == svg, "\(picture.name) is out of date: run the tests once with REBOUND_WRITE_PICTURES=1.")
  }

  @Test(
    "are all in use, each with words for those who do not see it",
    arguments: ["Combine", "Rebound", "ReboundLoadBalancing", "ReboundOutbox"]
  )
  func inUse(catalogue: String) throws {
    let resources = Self.resources(of: catalogue)
    let articles = try FileManager.default.subpathsOfDirectory(atPath: resources.deletingLastPathComponent().path)
      .filter { $0.hasSuffix(".md") }
      .map { try String(contentsOf: resources.deletingLastPathComponent().appendingPathComponent($0), encoding: .utf8) }
      .joined()
    let files = try FileManager.default.contentsOfDirectory(at: resources, includingPropertiesForKeys: nil)
      .map { $0.deletingPathExtension().lastPathComponent }
    #expect(Set(files) == Set(Picture.all.filter { $0.catalogue == catalogue }.map(\.name)))
    for name in files {
      #expect(articles.contains(try Regex("!\\[[^\\]]{20,}\\]\\(\(name)\\)")), "\(name)")
    }
  }
}

extension Picture: CustomTestStringConvertible {
  var testDescription: String { name }
}
