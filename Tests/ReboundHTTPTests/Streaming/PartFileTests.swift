import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("PartFile")
struct PartFileTests {
  private static let partial = PartialBody(validator: "\"one\"", length: 3, count: 0)
  private let folder = TemporaryFolder()

  init() throws {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
  }

  /// Loads a file of three bytes to a place.
  private func load(to name: String, files: FileManager = .default) throws {
    let file = try PartFile(for: folder.url.appendingPathComponent(name), files: files)
    try file.begin(Self.partial, of: "address")
    try file.append(Data("abc".utf8))
    try file.complete(verifying: nil)
  }

  @Test("a file whose name leaves no room for that of the note is loaded all the same", arguments: [245, 246, 250])
  func longName(length: Int) throws {
    let name = String(repeating: "n", count: length)
    try load(to: name)
    expectEqual(folder.names, [name])
    try expectEqual(Data(contentsOf: folder.url.appendingPathComponent(name)), Data("abc".utf8))
  }

  @Test("a whole file is in its place, although the note beside it stays; the next one removes it")
  func noteThatStays() throws {
    // As the class that it inherits from; it keeps nothing of its own.
    final class Keeping: FileManager, @unchecked Sendable {
      override func removeItem(at url: URL) throws { throw CocoaError(.fileWriteNoPermission) }
    }
    try load(to: "file", files: Keeping())
    expectEqual(folder.names, ["file", "file.part.json"])
    try expectEqual(Data(contentsOf: folder.url.appendingPathComponent("file")), Data("abc".utf8))
    // It does not speak of the part that the next one begins.
    try expectEqual(PartFile(for: folder.url.appendingPathComponent("file")).partial(of: "address").count, 0)
    try load(to: "file")
    expectEqual(folder.names, ["file"])
  }

  @Test("a note that the download before has removed meanwhile is none")
  func removedNote() throws {
    // As the class that it inherits from; it keeps nothing of its own.
    final class Late: FileManager, @unchecked Sendable {
      override func removeItem(at url: URL) throws {
        try FileManager.default.removeItem(at: url)
        try FileManager.default.removeItem(at: url)
      }
    }
    let file = try PartFile(for: folder.url.appendingPathComponent("file"), files: Late())
    for address in ["one", "two"] {
      try file.begin(Self.partial, of: address)
      try expectEqual(file.partial(of: address).validator, Self.partial.validator)
    }
    try file.begin(PartialBody(), of: "three")
    expectEqual(folder.names, ["file.part"])
  }

  #if !os(Windows)
    @Test("that a part cannot be locked is what the system says; only the lock of another is a download")
    func lock() throws {
      let part = folder.url.appendingPathComponent("file.part")
      #expect(throws: POSIXError(.EBADF)) { try PartFile.lock(-1, of: part) }
      let file = try PartFile(for: folder.url.appendingPathComponent("file"))
      #expect(throws: DownloadUnderWay(part: part)) { try PartFile(for: folder.url.appendingPathComponent("file")) }
      withExtendedLifetime(file) {}
    }
  #endif
}
