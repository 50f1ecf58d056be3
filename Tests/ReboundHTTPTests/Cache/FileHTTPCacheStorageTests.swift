import Dispatch
import Expectations
import Foundation
import Rebound
import StreamSupport
import Testing

@testable import ReboundHTTP

@Suite("FileHTTPCacheStorage")
struct FileHTTPCacheStorageTests {
  /// A folder in memory, and the clock of those who share it.
  private final class Setting: Sendable {
    let folder = MemoryFolder()
    private let clock = Locked(Duration.seconds(10_000))

    func storage(maxBytes: Int = .max, maxEntries: Int = 10_000) -> FileHTTPCacheStorage {
      FileHTTPCacheStorage(in: folder, maxBytes: maxBytes, maxEntries: maxEntries) { [self] in
        clock.withLock { $0 }
      }
    }

    func wait(_ time: Duration) { clock.withLock { $0 += time } }

    var now: Duration { clock.withLock { $0 } }
    var names: [String] { folder.entries.keys.sorted() }
  }

  private static func name(_ number: Int, of address: Int = 0) -> HTTPCacheEntryName {
    let digits = { (number: Int) in String(repeating: "0", count: 32 - "\(number)".count) + "\(number)" }
    return HTTPCacheEntryName(address: digits(address), copy: digits(number))
  }

  private static func bytes(_ finding: HTTPCacheFinding) -> Data? {
    if case .bytes(let bytes, _) = finding { bytes } else { nil }
  }

  private static func found(_ storage: FileHTTPCacheStorage, _ name: HTTPCacheEntryName) throws -> Data? {
    bytes(try storage.find(name, known: nil, limit: .max))
  }

  private static let (one, two) = (Data("one".utf8), Data("two".utf8))

  // MARK: Finding and storing

  @Test("what was stored is found by the next process, and what is known already is not read again")
  func restart() throws {
    let setting = Setting()
    try expectEqual(setting.storage().find(Self.name(1), known: nil, limit: .max), .nothing)
    let version = try #require(try setting.storage().store(Self.one, as: Self.name(1)))
    try expectEqual(setting.storage().find(Self.name(1), known: nil, limit: 3), .bytes(Self.one, version: version))
    let reads = setting.folder.calls.count { $0 == "read" }
    try expectEqual(setting.storage().find(Self.name(1), known: version, limit: 3), .unchanged(version: version))
    expectEqual(setting.folder.calls.count { $0 == "read" }, reads)
    try expectEqual(setting.storage().find(Self.name(1), known: nil, limit: 2), .nothing)
    expectEqual(setting.names, ["\(Self.name(1))"])
  }

  @Test("two storages in one folder see what the other has stored, replaced and removed")
  func twoStorages() throws {
    let setting = Setting()
    let (first, second) = (setting.storage(), setting.storage())
    let version = try #require(try first.store(Self.one, as: Self.name(1)))
    try expectEqual(Self.found(second, Self.name(1)), Self.one)
    // Of the same length, and at the same time.
    _ = try second.store(Self.two, as: Self.name(1))
    expectEqual(Self.bytes(try first.find(Self.name(1), known: version, limit: 9)), Self.two)
    try first.remove(Self.name(1))
    try expectEqual(second.find(Self.name(1), known: version, limit: 9), .nothing)
    try second.remove(Self.name(1))
  }

  @Test("a file that has another's number, size and time, but not its bytes, is another")
  func sameAttributes() throws {
    let setting = Setting()
    let storage = setting.storage()
    let version = try #require(try storage.store(Self.one, as: Self.name(1)))
    var entry = try #require(setting.folder.entries["\(Self.name(1))"])
    entry.bytes = Self.two
    setting.folder.put("\(Self.name(1))", entry)
    expectEqual(Self.bytes(try storage.find(Self.name(1), known: version, limit: 9)), Self.two)
  }

  @Test("all copies of an address go at once, whoever has stored them, and what is being written of it")
  func address() throws {
    let setting = Setting()
    let (first, second) = (setting.storage(), setting.storage())
    _ = try first.store(Self.one, as: Self.name(1, of: 1))
    _ = try second.store(Self.one, as: Self.name(2, of: 1))
    _ = try second.store(Self.one, as: Self.name(1, of: 2))
    setting.folder.put("\(Self.name(3, of: 1)).0123456789abcdef.new", .init(changed: setting.now, number: 99))
    try first.removeAll(ofAddress: Self.name(1, of: 1).address)
    expectEqual(setting.names, ["\(Self.name(1, of: 2))"])
    setting.folder.put("notes.txt", .init(changed: setting.now, number: 100))
    try first.removeAll()
    expectEqual(setting.names, ["notes.txt"])
  }

  @Test("what somebody forgets while it is being written is not there, and no failure")
  func forgottenMeanwhile() throws {
    let setting = Setting()
    let storage = setting.storage()
    let racing = RacingFolder(setting.folder) { try? storage.removeAll() }
    let other = FileHTTPCacheStorage(in: racing) { .seconds(10_000) }
    #expect(try other.store(Self.one, as: Self.name(1)) == nil)
    expectEqual(setting.names, [])
  }

  @Test("what is done being written while it is forgotten is not there, either", arguments: [false, true])
  func forgottenAsItIsDone(all: Bool) throws {
    let setting = Setting()
    let unfinished = "\(Self.name(1)).0123456789abcdef.new"
    setting.folder.put(unfinished, .init(bytes: Self.one, changed: setting.now, number: 99))
    let racing = RacingFolder(setting.folder, before: "remove") {
      try? setting.folder.rename(unfinished, to: "\(Self.name(1))")
    }
    let storage = FileHTTPCacheStorage(in: racing) { setting.now }
    if all { try storage.removeAll() } else { try storage.removeAll(ofAddress: Self.name(1).address) }
    expectEqual(setting.names, [])
  }

  // MARK: Bounds

  @Test("there are never more copies or bytes than allowed")
  func bounds() throws {
    let setting = Setting()
    let storage = setting.storage(maxBytes: 20 * 4_096, maxEntries: 16)
    for number in 0..<200 {
      setting.wait(.seconds(1))
      #expect(try storage.store(Data(count: 1 + number * 100 % 9_000), as: Self.name(number)) != nil)
      #expect(setting.folder.entries.count <= 16)
      #expect(setting.folder.entries.values.reduce(0) { $0 + CacheFolderIndex.room(for: $1.bytes.count) } <= 20 * 4_096)
      #expect(setting.folder.entries["\(Self.name(number))"] != nil)
    }
    #expect(try storage.usedBytes() <= 20 * 4_096)
    #expect(try storage.store(Data(count: 20 * 4_096 + 1), as: Self.name(0)) == nil)
  }

  @Test("what was not used for the longest time goes first, whichever process has used it")
  func leastRecentlyUsed() throws {
    let setting = Setting()
    let first = setting.storage(maxEntries: 4)
    for number in 0..<4 {
      _ = try first.store(Self.one, as: Self.name(number))
      setting.wait(.seconds(100))
    }
    #expect(try Self.found(first, Self.name(0)) != nil)
    #expect(try Self.found(setting.storage(), Self.name(1)) != nil)
    setting.wait(.seconds(100))
    let second = setting.storage(maxEntries: 4)
    _ = try second.store(Self.one, as: Self.name(4))
    expectEqual(setting.names, [0, 1, 3, 4].map { "\(Self.name($0))" })
  }

  @Test("of several processes each is over the bounds by an eighth at most")
  func severalProcesses() throws {
    let setting = Setting()
    let storages = (0..<3).map { _ in setting.storage(maxEntries: 80) }
    for number in 0..<1_000 {
      setting.wait(.seconds(1))
      _ = try storages[number % 3].store(Self.one, as: Self.name(number))
      #expect(setting.folder.entries.count <= 80 + 3 * 11)
    }
  }

  @Test("a folder that is too full, because less is allowed than before, is made to fit")
  func smallerBounds() throws {
    let setting = Setting()
    let before = setting.storage()
    for number in 0..<20 {
      _ = try before.store(Self.one, as: Self.name(number))
      setting.wait(.seconds(1))
    }
    _ = try setting.storage(maxEntries: 8).store(Self.one, as: Self.name(20))
    expectEqual(setting.names, (13...20).map { "\(Self.name($0))" })
  }

  @Test("a use is noted once a minute at most, and known without being read again")
  func uses() throws {
    let setting = Setting()
    let storage = setting.storage()
    var version = try #require(try storage.store(Self.one, as: Self.name(1)))
    for _ in 0..<8 {
      setting.wait(.seconds(20))
      guard case .unchanged(let next) = try storage.find(Self.name(1), known: version, limit: 9) else {
        Issue.record("it was taken for another")
        return
      }
      version = next
    }
    expectEqual(setting.folder.calls.count { $0 == "use" }, 2)
    #expect(!setting.folder.calls.contains("read"))
    // One of the future, because the clock was set back, is noted as well.
    setting.wait(.seconds(-9_000))
    _ = try Self.found(storage, Self.name(1))
    expectEqual(setting.folder.entries["\(Self.name(1))"]?.changed, setting.now)
  }

  @Test("a file that takes another's place while its use is noted is not taken for it")
  func replacedWhileUsed() throws {
    let setting = Setting()
    let version = try #require(try setting.storage().store(Self.one, as: Self.name(1)))
    setting.wait(.seconds(100))
    let other = setting.storage()
    let racing = RacingFolder(setting.folder, before: "use") { _ = try? other.store(Self.two, as: Self.name(1)) }
    let storage = FileHTTPCacheStorage(in: racing) { setting.now }
    guard case .unchanged(let next) = try storage.find(Self.name(1), known: version, limit: 9) else {
      Issue.record("what is in memory is what was found")
      return
    }
    expectEqual(Self.bytes(try storage.find(Self.name(1), known: next, limit: 9)), Self.two)
  }

  // MARK: What is left behind, and what is another's

  @Test("what a process has left behind that ended while it wrote is removed an hour later, and not before")
  func leftBehind() throws {
    let setting = Setting()
    let left = "\(Self.name(1)).0123456789abcdef.new"
    for (age, isLeft) in [(Duration.seconds(3_600), true), (.seconds(3_601), false), (.seconds(-3_601), false)] {
      setting.folder.put(left, .init(bytes: Self.one, changed: setting.now - age, number: 99))
      _ = try setting.storage().store(Self.two, as: Self.name(2))
      expectEqual(setting.names.contains(left), isLeft, "\(age)")
    }
    try expectEqual(setting.storage().find(Self.name(1), known: nil, limit: 9), .nothing)
  }

  @Test(
    "files that are not named like the cache's are left alone, however old",
    arguments: [
      "notes.txt", "a-b", ".hidden", "\(FileHTTPCacheStorageTests.name(1)).new",
      "\(FileHTTPCacheStorageTests.name(1)).0123.new", "\(FileHTTPCacheStorageTests.name(1)).0123456789abcdef.old",
      "\(FileHTTPCacheStorageTests.name(1))-", "\(FileHTTPCacheStorageTests.name(1))".uppercased() + "A",
      "x\(FileHTTPCacheStorageTests.name(1))", "\(FileHTTPCacheStorageTests.name(1)).0123456789abcdeg.new",
    ]
  )
  func foreign(name: String) throws {
    let setting = Setting()
    setting.folder.put(name, .init(bytes: Self.one, changed: .zero, number: 99))
    let storage = setting.storage(maxEntries: 1)
    for number in 0..<3 { _ = try storage.store(Self.one, as: Self.name(number)) }
    try storage.removeAll()
    expectEqual(setting.names, [name])
  }

  @Test("a folder or a link in a copy's place is no copy, and goes")
  func noPlainFile() throws {
    let setting = Setting()
    setting.folder.put("\(Self.name(1))", .init(changed: .zero, number: 99, isPlain: false))
    try expectEqual(setting.storage().find(Self.name(1), known: nil, limit: 9), .nothing)
    expectEqual(setting.names, [])
  }

  // MARK: Failures

  @Test("a folder that is gone is made anew")
  func vanished() throws {
    let setting = Setting()
    let storage = setting.storage()
    _ = try storage.store(Self.one, as: Self.name(1))
    setting.folder.vanish()
    #expect(try Self.found(storage, Self.name(1)) == nil)
    try storage.removeAll()
    _ = try storage.store(Self.two, as: Self.name(1))
    try expectEqual(Self.found(storage, Self.name(1)), Self.two)
  }

  @Test("what cannot be stored leaves the old copy, and nothing beside it", arguments: ["create", "rename", "names"])
  func full(call: String) throws {
    let setting = Setting()
    _ = try setting.storage().store(Self.one, as: Self.name(1))
    let storage = setting.storage()
    setting.folder.refuse([call])
    #expect(throws: MemoryFolder.refusal) { try storage.store(Self.two, as: Self.name(1)) }
    try expectEqual(Self.found(storage, Self.name(1)), Self.one)
    setting.folder.refuse([])
    expectEqual(setting.names, ["\(Self.name(1))"])
  }

  @Test("where no room can be made, nothing is stored")
  func unremovable() throws {
    let setting = Setting()
    let storage = setting.storage(maxEntries: 1)
    _ = try storage.store(Self.one, as: Self.name(1))
    setting.folder.refuse(["remove"])
    #expect(throws: MemoryFolder.refusal) { try storage.store(Self.two, as: Self.name(2)) }
    expectEqual(setting.names, ["\(Self.name(1))"])
  }

  @Test("a use that cannot be noted is no failure")
  func unnotedUse() throws {
    let setting = Setting()
    let storage = setting.storage()
    let version = try #require(try storage.store(Self.one, as: Self.name(1)))
    setting.wait(.seconds(100))
    setting.folder.refuse(["use"])
    try expectEqual(storage.find(Self.name(1), known: version, limit: 9), .unchanged(version: version))
  }

  @Test("wherever a process ends while it stores, the next finds the old copy or the new one, whole")
  func everyEnd() throws {
    for end in 0...3 {
      for written in 0...3 {
        let setting = Setting()
        _ = try setting.storage().store(Self.one, as: Self.name(1))
        setting.folder.end(after: end, written: written)
        let isStored = (try? setting.storage().store(Self.two, as: Self.name(1))) != nil
        setting.folder.end(after: nil)
        let found = try Self.found(setting.storage(), Self.name(1))
        expectEqual(found, isStored ? Self.two : Self.one, "end \(end), \(written) bytes")
        expectEqual(isStored, end > 1)
        // What is left behind goes in time.
        setting.wait(.seconds(3_601))
        _ = try setting.storage().store(Self.two, as: Self.name(2))
        expectEqual(setting.names, ["\(Self.name(1))", "\(Self.name(2))"])
      }
    }
  }

  // MARK: Real files

  #if !os(Windows)
    /// Stores, finds and removes at random, on many threads at once, and says what was found that nobody can have stored.
    private static func complaints(of storages: [FileHTTPCacheStorage]) -> [String] {
      let complaints = ValueLog<String>()
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        var random = SystemRandomNumberGenerator()
        for round in 0..<150 {
          let number = Int.random(in: 0..<40, using: &random)
          let storage = storages[(thread + round) % storages.count]
          do {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: try storage.remove(Self.name(number, of: number % 4))
            case 1: try storage.removeAll(ofAddress: Self.name(0, of: number % 4).address)
            case 2...5:
              let bytes = Data(repeating: UInt8(round), count: 1_000 + number * 100)
              _ = try storage.store(bytes, as: Self.name(number, of: number % 4))
            default:
              guard let bytes = try Self.found(storage, Self.name(number, of: number % 4)) else { continue }
              let isWhole = bytes.count == 1_000 + number * 100 && bytes.allSatisfy { $0 == bytes.first }
              if !isWhole { complaints.append("\(bytes.count) bytes of \(number)") }
            }
          } catch {
            complaints.append("\(error)")
          }
        }
      }
      return complaints.values
    }

    private static func boundedStorage(at folder: URL) -> FileHTTPCacheStorage {
      FileHTTPCacheStorage(at: folder, maxBytes: 64 * 4_096, maxEntries: 24)
    }

    @Test("many threads with two storages: whoever finds something finds a whole, and no file stays open or is left")
    func threads() throws {
      let temporary = TemporaryFolder()
      let storages = (0..<2).map { _ in Self.boundedStorage(at: temporary.url) }
      expectEqual(Self.complaints(of: storages), [])
      #expect(temporary.names.allSatisfy { !$0.hasSuffix(".new") })
      // Each of the threads may have stored one at the same time.
      #expect(try storages[0].usedBytes() <= 64 * 4_096)
      #expect(temporary.names.count <= 24)
      #if os(Linux)
        expectEqual(ProcessResources.descriptorNames.filter { $0.hasPrefix(temporary.url.path) }, [])
      #endif
    }

    #if os(Linux) || os(macOS)
      @Test("another process finds what this one has stored, replaced and removed, and the other way round")
      func otherProcess() async throws {
        let temporary = TemporaryFolder()
        let (path, storage) = (temporary.url.path, FileHTTPCacheStorage.folder(temporary.url))
        let known = try #require(try storage.store(Self.one, as: Self.name(1)))
        let removed = try #require(try storage.store(Self.one, as: Self.name(2)))
        _ = try storage.store(Self.one, as: Self.name(3))
        try storage.remove(Self.name(3))
        await #expect(processExitsWith: .success) { [path = path as String] in
          let storage = FileHTTPCacheStorage.folder(URL(filePath: path))
          let stored = try FileHTTPCacheStorageTests.found(storage, FileHTTPCacheStorageTests.name(1))
          expectEqual(stored, Data("one".utf8), "\(String(describing: stored))")
          let removed = try FileHTTPCacheStorageTests.found(storage, FileHTTPCacheStorageTests.name(3))
          #expect(removed == nil, "\(String(describing: removed))")
          // Of the same length as before.
          _ = try storage.store(Data("two".utf8), as: FileHTTPCacheStorageTests.name(1))
          try storage.remove(FileHTTPCacheStorageTests.name(2))
          _ = try storage.store(Data("new".utf8), as: FileHTTPCacheStorageTests.name(4))
        }
        expectEqual(Self.bytes(try storage.find(Self.name(1), known: known, limit: 9)), Self.two)
        try expectEqual(storage.find(Self.name(2), known: removed, limit: 9), .nothing)
        try expectEqual(Self.found(storage, Self.name(4)), Data("new".utf8))
      }

      @Test(
        "many threads of three processes: whoever finds something finds a whole, and the bounds are kept in the end"
      )
      func processes() async throws {
        let temporary = TemporaryFolder()
        let path = temporary.url.path
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<2 {
            group.addTask {
              await #expect(processExitsWith: .success) { [path = path as String] in
                let storage = FileHTTPCacheStorageTests.boundedStorage(at: URL(filePath: path))
                let complaints = FileHTTPCacheStorageTests.complaints(of: [storage])
                expectEqual(complaints, [])
              }
            }
          }
          expectEqual(Self.complaints(of: [Self.boundedStorage(at: temporary.url)]), [])
        }
        let storage = Self.boundedStorage(at: temporary.url)
        _ = try storage.store(Self.one, as: Self.name(1))
        #expect(temporary.names.allSatisfy { !$0.hasSuffix(".new") })
        #expect(try storage.usedBytes() <= 64 * 4_096)
        #expect(temporary.names.count <= 24)
      }
    #endif

    @Test("files and folder are for the user alone, and a folder that is there stays as it is")
    func permissions() throws {
      let temporary = TemporaryFolder()
      let storage = FileHTTPCacheStorage.folder(temporary.url)
      _ = try storage.store(Self.one, as: Self.name(1))
      try expectEqual(temporary.permissions(), 0o700)
      try expectEqual(temporary.permissions(of: "\(Self.name(1))"), 0o600)
      expectEqual(chmod(temporary.url.path, 0o750), 0)
      _ = try FileHTTPCacheStorage.folder(temporary.url).store(Self.two, as: Self.name(1))
      try expectEqual(temporary.permissions(), 0o750)
      try expectEqual(Self.found(storage, Self.name(1)), Self.two)
    }

    @Test("a folder with something in it in a copy's place is a failure, and left alone")
    func folderInPlace() throws {
      let temporary = TemporaryFolder()
      let inside = temporary.url.appendingPathComponent("\(Self.name(1))/inside")
      try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
      let storage = FileHTTPCacheStorage.folder(temporary.url)
      #expect(throws: CacheFolderError.self) { try storage.find(Self.name(1), known: nil, limit: 9) }
      #expect(throws: CacheFolderError.self) { try storage.store(Self.one, as: Self.name(1)) }
      expectEqual(temporary.names, ["\(Self.name(1))"])
      #expect(FileManager.default.fileExists(atPath: inside.path))
    }

    @Test("a file in the folder's place is a failure that says so")
    func fileInPlace() throws {
      let temporary = TemporaryFolder()
      try Self.one.write(to: temporary.url)
      let storage = FileHTTPCacheStorage.folder(temporary.url)
      #expect(throws: CacheFolderError.self) { try storage.find(Self.name(1), known: nil, limit: 9) }
      #expect(throws: (any Error).self) { try storage.store(Self.one, as: Self.name(1)) }
      try expectEqual(Data(contentsOf: temporary.url), Self.one)
    }
  #endif
}

/// A folder in which another process does something before a call.
private struct RacingFolder: CacheFolder {
  let base: MemoryFolder
  let call: String
  let other: @Sendable () -> Void

  init(_ base: MemoryFolder, before call: String = "rename", _ other: @escaping @Sendable () -> Void) {
    (self.base, self.call, self.other) = (base, call, other)
  }

  func make() throws { try base.make() }
  func names() throws -> [String] { try base.names() }
  func file(_ name: String) throws -> CacheFile? { try base.file(name) }
  func read(_ name: String, limit: Int, count: Int) throws -> (bytes: Data, file: CacheFile)? {
    try base.read(name, limit: limit, count: count)
  }
  func create(_ name: String, _ bytes: Data, used: Duration) throws -> CacheFile {
    try base.create(name, bytes, used: used)
  }
  func rename(_ name: String, to other: String) throws {
    if call == "rename" { self.other() }
    try base.rename(name, to: other)
  }
  func use(_ name: String, at time: Duration) throws {
    if call == "use" { other() }
    try base.use(name, at: time)
  }
  func remove(_ name: String) throws {
    if call == "remove" { other() }
    try base.remove(name)
  }
}
