import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundHTTP

@Suite("CacheFolder")
struct CacheFolderTests {
  enum Kind: CaseIterable {
    case system
    case foundation

    func folder(_ temporary: TemporaryFolder) -> any CacheFolder {
      switch self {
      case .system: SystemCacheFolder(temporary.url)
      case .foundation: FoundationCacheFolder(temporary.url)
      }
    }
  }

  @Test("a file is made for the user alone, found, read, renamed over another, and removed", arguments: Kind.allCases)
  func life(kind: Kind) throws {
    let temporary = TemporaryFolder()
    let folder = kind.folder(temporary)
    #expect(try folder.names().isEmpty)
    #expect(try folder.file("a") == nil)
    try folder.make()
    try folder.make()
    let made = try folder.create("a", Data("one".utf8), used: .seconds(1_000))
    _ = try folder.create("b", Data("other".utf8), used: .seconds(2_000))
    expectEqual(made.size, 3)
    #expect(made.isPlain)
    expectEqual(made.changed, .seconds(1_000))
    try expectEqual(folder.file("a"), made)
    try expectEqual(temporary.permissions(), 0o700)
    try expectEqual(temporary.permissions(of: "a"), 0o600)
    try folder.rename("a", to: "b")
    try expectEqual(folder.names(), ["b"])
    try expectEqual(folder.file("b")?.version, made.version)
    let read = try #require(try folder.read("b", limit: 3, count: .max))
    expectEqual(read.bytes, Data("one".utf8))
    expectEqual(read.file, made)
    #expect(try folder.read("b", limit: 2, count: .max) == nil)
    try expectEqual(folder.read("b", limit: 3, count: 2)?.bytes, Data("on".utf8))
    #expect(try folder.read("b", limit: 2, count: 2) == nil)
    try folder.use("b", at: .seconds(3_000))
    try expectEqual(folder.file("b")?.changed, .seconds(3_000))
    #expect(try folder.file("b")?.version != made.version)
    try folder.remove("b")
    try folder.remove("b")
    #expect(try folder.names().isEmpty)
    #expect(try folder.read("b", limit: 9, count: .max) == nil)
  }

  @Test("an empty file is one, too", arguments: Kind.allCases)
  func empty(kind: Kind) throws {
    let temporary = TemporaryFolder()
    let folder = kind.folder(temporary)
    try folder.make()
    _ = try folder.create("a", Data(), used: .seconds(1))
    try expectEqual(folder.read("a", limit: 0, count: .max)?.bytes, Data())
  }

  @Test("what is missing is told from what else goes wrong", arguments: Kind.allCases)
  func missing(kind: Kind) throws {
    let temporary = TemporaryFolder()
    let folder = kind.folder(temporary)
    func error(_ body: () throws -> Void) -> CacheFolderError? {
      do {
        try body()
        return nil
      } catch {
        return error as? CacheFolderError
      }
    }
    expectEqual(error { _ = try folder.create("a", Data([1]), used: .zero) }?.isMissing, true)
    try folder.make()
    expectEqual(error { try folder.rename("a", to: "b") }?.isMissing, true)
    _ = try folder.create("a", Data([1]), used: .zero)
    expectEqual(error { _ = try folder.create("a", Data([2]), used: .zero) }?.isMissing, false)
    try expectEqual(folder.read("a", limit: 9, count: .max)?.bytes, Data([1]))
  }

  @Test("folders, links and pipes are not read, and nothing waits for them", arguments: Kind.allCases)
  func foreign(kind: Kind) throws {
    let temporary = TemporaryFolder()
    let folder = kind.folder(temporary)
    try folder.make()
    let place = { (name: String) in temporary.url.appendingPathComponent(name) }
    try FileManager.default.createDirectory(at: place("empty"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(at: place("full/inside"), withIntermediateDirectories: true)
    _ = try folder.create("target", Data([1]), used: .zero)
    try FileManager.default.createSymbolicLink(at: place("link"), withDestinationURL: place("target"))
    expectEqual(mkfifo(place("pipe").path, 0o600), 0)
    for name in ["empty", "full", "link", "pipe"] {
      try expectEqual(folder.file(name)?.isPlain, false, "\(name)")
      #expect(try folder.read(name, limit: 9_999, count: .max) == nil, "\(name)")
    }
    for name in ["empty", "link", "pipe"] { try folder.remove(name) }
    #expect(throws: CacheFolderError.self) { try folder.remove("full") }
    try expectEqual(folder.names().sorted(), ["full", "target"])
  }

  // Nothing is forbidden to the user who may do everything.
  @Test("what may not be read is an error that says so", .enabled(if: geteuid() != 0), arguments: Kind.allCases)
  func forbidden(kind: Kind) throws {
    let temporary = TemporaryFolder()
    let folder = kind.folder(temporary)
    try folder.make()
    _ = try folder.create("a", Data([1]), used: .zero)
    expectEqual(chmod(temporary.url.appendingPathComponent("a").path, 0), 0)
    #expect(throws: CacheFolderError.self) { _ = try folder.read("a", limit: 9, count: .max) }
    try folder.remove("a")
    expectEqual(chmod(temporary.url.path, 0o500), 0)
    #expect(throws: CacheFolderError.self) { _ = try folder.create("b", Data([1]), used: .zero) }
    expectEqual(chmod(temporary.url.path, 0o700), 0)
  }

  #if os(Linux)
    @Test("whatever comes of a call, no file is left open", arguments: Kind.allCases)
    func descriptors(kind: Kind) throws {
      let temporary = TemporaryFolder()
      let folder = kind.folder(temporary)
      try folder.make()
      try FileManager.default.createDirectory(
        at: temporary.url.appendingPathComponent("folder"),
        withIntermediateDirectories: true
      )
      let open = { ProcessResources.descriptorNames.filter { $0.hasPrefix(temporary.url.path) } }
      for number in 0..<10 {
        _ = try folder.create("\(number)", Data(count: 100), used: .zero)
        _ = try? folder.create("\(number)", Data(count: 100), used: .zero)
        _ = try folder.read("\(number)", limit: 100, count: .max)
        _ = try folder.read("\(number)", limit: 99, count: .max)
        _ = try folder.read("folder", limit: 99_999, count: .max)
        _ = try folder.read("none", limit: 99, count: .max)
        _ = try folder.names()
      }
      expectEqual(open(), [])
    }
  #endif
}
