import Foundation
import ServerTesting
import Testing

@testable import App

@Suite("TarArchive")
struct TarArchiveTests {
  /// What tar makes of it: names and contents.
  private func unpacked(_ archive: Data) async throws -> [String: Data] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tar-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // The system empties the folder above.
    let tar = try ChildProcess("tar", arguments: ["-x", "-C", folder.path], input: archive)
    #expect(try await tar.end().status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return Dictionary(
      uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) }
    )
  }

  @Test("tar unpacks the files as they were, whatever their lengths")
  func unpacks() async throws {
    let files: [(name: String, content: Data)] = [
      ("empty.txt", Data()), ("block.bin", Data(repeating: 7, count: 512)), ("more.swift", Data("let π = 3\n".utf8)),
      ("long.har", Data(repeating: 1, count: 5_000)),
    ]
    let archive = TarArchive(files).data
    #expect(archive.count % 512 == 0)
    #expect(try await unpacked(archive) == Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.content) }))
  }

  @Test("a name that is too long keeps its end, with what says the kind of file")
  func longName() async throws {
    let name = String(repeating: "n", count: 200) + "Tests.swift"
    let names = try await unpacked(TarArchive([(name, Data("x".utf8))]).data).keys
    #expect(names.map(\.count) == [100])
    #expect(names.allSatisfy { $0.hasSuffix("Tests.swift") })
  }
}
