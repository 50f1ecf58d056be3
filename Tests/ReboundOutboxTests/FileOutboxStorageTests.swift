import Expectations
import Foundation
import Rebound
import ReboundOutbox
import ReboundTesting
import StreamSupport
import Testing

@Suite("FileOutboxStorage")
struct FileOutboxStorageTests {
  private let records = ["one", "two", "three"].map { Data($0.utf8) }
  /// A file whose second line, its only record, has another checksum.
  private let damaged = Data("eab5df1a {\"rebound-outbox\":1}\n00000000 {}\n".utf8)

  /// A folder of its own, which is removed in the end.
  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID().uuidString)")
    var file: URL { url.appendingPathComponent("orders.outbox") }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    init() throws {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
      try? FileManager.default.removeItem(at: url)
    }
  }

  @Test("what is added and replaced is there when it is opened again, in files for the user alone")
  func roundTrip() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    #expect(try storage.open().records.isEmpty)
    try storage.append(Array(records[..<2]), durably: true)
    try storage.append([records[2]], durably: false)
    storage.close()
    let again = FileOutboxStorage(at: folder.file)
    let contents = try again.open()
    expectEqual(contents.records, records)
    #expect(contents.damage.isEmpty)
    try again.replace(with: [records[2]])
    try again.append([records[0]], durably: true)
    again.close()
    try expectEqual(storage.open().records, [records[2], records[0]])
    expectEqual(folder.names, ["orders.outbox", "orders.outbox.lock"])
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.file.path)
    expectEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600)
  }

  @Test("two outboxes cannot have one file, not even in one process; the next can once it is closed or released")
  func lock() throws {
    let folder = try Folder()
    var first: FileOutboxStorage? = FileOutboxStorage(at: folder.file)
    _ = try first?.open()
    let second = FileOutboxStorage(at: folder.file)
    #expect(throws: OutboxStorageFailure.inUse(folder.file.path)) { try second.open() }
    #expect(throws: OutboxStorageFailure.inUse(folder.file.path)) { try first?.open() }
    try first?.append(records, durably: true)
    first = nil
    try expectEqual(second.open().records, records)
  }

  #if os(Linux)
    @Test("a process that is being started while it is open is in no way of the next outbox")
    func inheritedLock() throws {
      let folder = try Folder()
      let first = FileOutboxStorage(at: folder.file)
      _ = try first.open()
      // A fork would have copied the descriptors.
      var inherited: [Int32] = []
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        if let descriptor = Int32(name), path?.hasPrefix(folder.url.path) == true { inherited.append(dup(descriptor)) }
      }
      defer { for descriptor in inherited { close(descriptor) } }
      first.close()
      #expect(!inherited.isEmpty)
      _ = try FileOutboxStorage(at: folder.file).open()
    }
  #endif

  @Test("a last line without an end is dropped and reported, and nothing is written behind it")
  func torn() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    _ = try storage.open()
    try storage.append(records, durably: true)
    storage.close()
    let whole = try Data(contentsOf: folder.file)
    try whole.dropLast(3).write(to: folder.file)
    let contents = try storage.open()
    expectEqual(contents.records, Array(records[..<2]))
    expectEqual(contents.damage, [.torn(bytes: 12)])
    try storage.append([records[2]], durably: true)
    storage.close()
    try expectEqual(Data(contentsOf: folder.file), whole)
  }

  @Test("a damaged line is left out and reported, and the file as it was is kept beside under a free name")
  func corrupt() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    for number in 1...2 {
      _ = try storage.open()
      try storage.replace(with: records)
      storage.close()
      var damaged = try Data(contentsOf: folder.file)
      let place = try #require(damaged.range(of: Data("two".utf8))?.lowerBound)
      damaged[place] = UInt8(number)
      try damaged.write(to: folder.file)
      let contents = try storage.open()
      expectEqual(contents.records, [records[0], records[2]])
      let copy = "\(folder.file.path).damaged-\(number)"
      expectEqual(contents.damage, [.corrupt(lines: [3], keptAt: copy)])
      try expectEqual(Data(contentsOf: URL(fileURLWithPath: copy)), damaged)
      try storage.replace(with: contents.records)
      storage.close()
    }
    let contents = try storage.open()
    expectEqual(contents.records, [records[0], records[2]])
    #expect(contents.damage.isEmpty)
  }

  @Test("damage is found again, and nothing is added, until whoever has heard of it has replaced all")
  func unreplaced() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    try damaged.write(to: folder.file)
    let copy = "\(folder.file.path).damaged-1"
    for _ in 0..<3 {
      try expectEqual(storage.open().damage, [.corrupt(lines: [2], keptAt: copy)])
      #expect(throws: OutboxStorageFailure.notReady(folder.file.path)) { try storage.append(records, durably: true) }
      storage.close()
      try expectEqual(Data(contentsOf: folder.file), damaged)
      expectEqual(folder.names, ["orders.outbox", "orders.outbox.damaged-1", "orders.outbox.lock"])
    }
    _ = try storage.open()
    try storage.replace(with: [records[0]])
    try storage.append([records[1]], durably: true)
    storage.close()
    let contents = try storage.open()
    expectEqual(contents.records, Array(records[..<2]))
    #expect(contents.damage.isEmpty)
  }

  @Test("a damaged file that cannot be replaced is not copied again and again, and mended once it can")
  func unreplaceable() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    _ = try storage.open()
    try storage.append(records, durably: true)
    storage.close()
    var damaged = try Data(contentsOf: folder.file)
    damaged[damaged.count - 2] = UInt8(ascii: "E")
    try damaged.write(to: folder.file)
    // The new one cannot be written where a folder is.
    let new = folder.url.appendingPathComponent("orders.outbox.new")
    try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
    let contents = try storage.open()
    for _ in 0..<3 {
      #expect(throws: OutboxStorageFailure.self) { try storage.replace(with: contents.records) }
      expectEqual(folder.names, ["orders.outbox", "orders.outbox.lock", "orders.outbox.new"])
      try expectEqual(Data(contentsOf: folder.file), damaged)
    }
    try FileManager.default.removeItem(at: new)
    try storage.replace(with: contents.records)
    storage.close()
    try expectEqual(storage.open().records, Array(records[..<2]))
    expectEqual(folder.names, ["orders.outbox", "orders.outbox.damaged-1", "orders.outbox.lock"])
    let copy = folder.url.appendingPathComponent("orders.outbox.damaged-1")
    try expectEqual(Data(contentsOf: copy), damaged)
  }

  @Test("a copy that the process before has made, and no more, is the copy")
  func copiedBefore() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    let copies = (1...2).map { "\(folder.file.path).damaged-\($0)" }
    try damaged.write(to: folder.file)
    try Data("another".utf8).write(to: URL(fileURLWithPath: copies[0]))
    try damaged.write(to: URL(fileURLWithPath: copies[1]))
    try expectEqual(storage.open().damage, [.corrupt(lines: [2], keptAt: copies[1])])
    expectEqual(folder.names.count { $0.contains("damaged") }, 2)
  }

  @Test("the copy of a damaged file that is replaced stays, also if nobody knows whether the replacement does")
  func copyOfReplaced() throws {
    let disk = SimulatedDisk(seed: 0)
    let storage = FileOutboxStorage(path: "/box", disk: disk)
    try disk.create("/box").write(damaged)
    let contents = try storage.open()
    // Two calls to make sure of the copy, five to replace it; the last syncs the folder.
    disk.refuse(call: 7)
    #expect(throws: SimulatedDisk.Fault.refused) { try storage.replace(with: contents.records) }
    #expect(try disk.read("/box") != damaged)
    try expectEqual(disk.read("/box.damaged-1"), damaged)
    try storage.replace(with: contents.records)
    storage.close()
    #expect(try storage.open().damage.isEmpty)
  }

  @Test("a file that is none of an outbox, or of a later version, is refused and left alone")
  func refuses() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    let path = folder.file.path
    try Data("Dear diary,\n".utf8).write(to: folder.file)
    #expect(throws: OutboxStorageFailure.notAnOutbox(path)) { try storage.open() }
    try expectEqual(String(contentsOf: folder.file, encoding: .utf8), "Dear diary,\n")
    let later = Data("c1988cd9 {\"rebound-outbox\":2}\n".utf8)
    try later.write(to: folder.file)
    #expect(throws: OutboxStorageFailure.laterVersion(path, version: 2)) { try storage.open() }
    try expectEqual(Data(contentsOf: folder.file), later)
    // It does not keep others out, either.
    try FileManager.default.removeItem(at: folder.file)
    #expect(try FileOutboxStorage(at: folder.file).open().records.isEmpty)
  }

  @Test("a folder that is not there is an error that says so")
  func noFolder() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.url.appendingPathComponent("none/orders.outbox"))
    do {
      _ = try storage.open()
      Issue.record("it was opened in no folder")
    } catch let failure as OutboxStorageFailure {
      #expect("\(failure)".contains("none/orders.outbox.lock: No such file or directory"))
    }
  }

  @Test("whichever call fails: what was there stays, and a replacement makes all good again")
  func everyFault() throws {
    for fault in 1...4 {
      let disk = SimulatedDisk(seed: UInt64(fault))
      let storage = FileOutboxStorage(path: "/box", disk: disk)
      _ = try storage.open()
      try storage.append([records[0]], durably: true)
      disk.refuse(call: fault)
      // Two calls to append, four to replace.
      if fault < 3 {
        #expect(throws: SimulatedDisk.Fault.refused) { try storage.append([records[1]], durably: true) }
        #expect(throws: OutboxStorageFailure.notReady("/box")) { try storage.append([records[1]], durably: true) }
      } else {
        #expect(throws: SimulatedDisk.Fault.refused) { try storage.replace(with: records) }
      }
      try storage.replace(with: records)
      storage.close()
      disk.restart(losingPower: true)
      try expectEqual(FileOutboxStorage(path: "/box", disk: disk).open().records, records, "call \(fault)")
    }
  }

  @Test("a replacement for which there is no room gives back what it took, and what is added then fits")
  func noRoomForReplacement() throws {
    let disk = SmallDisk(room: 200)
    let storage = FileOutboxStorage(path: "/box", disk: disk)
    _ = try storage.open()
    try storage.append([Data(repeating: UInt8(ascii: "x"), count: 80)], durably: true)
    #expect(throws: SmallDisk.Full.self) { try storage.replace(with: [Data(repeating: UInt8(ascii: "x"), count: 160)]) }
    expectEqual(disk.names, ["/box"])
    try storage.append(records, durably: true)
    storage.close()
    try expectEqual(storage.open().records.count, 4)
  }

  @Test("a replacement that cannot be put in its place leaves nothing beside the journal")
  func noPlaceForReplacement() throws {
    let folder = try Folder()
    let storage = FileOutboxStorage(at: folder.file)
    _ = try storage.open()
    // No file takes the name of a folder.
    try FileManager.default.removeItem(at: folder.file)
    try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
    #expect(throws: OutboxStorageFailure.self) { try storage.replace(with: records) }
    expectEqual(folder.names, ["orders.outbox", "orders.outbox.lock"])
  }

  // In the second there is room for a copy, but none for the replacement behind that.
  @Test(
    "a damaged file for whose copy there is no room stays as it is, and no part of it is left as a copy",
    arguments: [200, 300]
  )
  func noRoomForCopy(room: Int) throws {
    let disk = SmallDisk(room: room)
    let storage = FileOutboxStorage(path: "/box", disk: disk)
    _ = try storage.open()
    try storage.append([Data(repeating: UInt8(ascii: "x"), count: 100)], durably: true)
    storage.close()
    var damaged = try #require(disk.read("/box"))
    damaged[damaged.count - 2] = UInt8(ascii: "y")
    try disk.create("/box").write(damaged)
    #expect(throws: SmallDisk.Full.self) { try storage.replace(with: storage.open().records) }
    expectEqual(disk.names, ["/box"])
    expectEqual(disk.read("/box"), damaged)
  }

  @Test("what could not be stored durably is not there after a restart")
  func refusedIsGone() throws {
    let disk = SimulatedDisk(seed: 0)
    let storage = FileOutboxStorage(path: "/box", disk: disk)
    _ = try storage.open()
    try storage.append([records[0]], durably: true)
    // It is written, but not synced.
    disk.refuse(call: 2)
    #expect(throws: SimulatedDisk.Fault.refused) { try storage.append([records[1]], durably: true) }
    storage.close()
    disk.restart(losingPower: false)
    try expectEqual(FileOutboxStorage(path: "/box", disk: disk).open().records, [records[0]])
  }

  @Test("power that goes in any call of a replacement leaves the old records or the new ones, whole")
  func replacementIsAtomic() throws {
    for call in 1...5 {
      for seed in UInt64(0)..<50 {
        let disk = SimulatedDisk(seed: seed)
        let storage = FileOutboxStorage(path: "/box", disk: disk)
        _ = try storage.open()
        try storage.append(records, durably: true)
        disk.losePower(inCall: call)
        try? storage.replace(with: [records[1]])
        disk.restart(losingPower: true)
        let contents = try FileOutboxStorage(path: "/box", disk: disk).open()
        #expect([records, [records[1]]].contains(contents.records), "call \(call), seed \(seed)")
        #expect(contents.damage.isEmpty, "call \(call), seed \(seed)")
      }
    }
  }

  @Test("what is stored in a journal whose place no process has made certain survives the loss of power")
  func placeOfTheJournal() throws {
    for seed in UInt64(0)..<20 {
      let disk = SimulatedDisk(seed: seed)
      // Made, written, synced, renamed; the sync of the folder fails.
      disk.refuse(call: 5)
      #expect(throws: SimulatedDisk.Fault.refused) { try disk.outboxStorage(at: "/box").open() }
      disk.restart(losingPower: false)
      let storage = disk.outboxStorage(at: "/box")
      _ = try storage.open()
      try storage.append([records[0]], durably: true)
      disk.restart(losingPower: true)
      try expectEqual(disk.outboxStorage(at: "/box").open().records, [records[0]], "seed \(seed)")
    }
  }
}

/// A disk in memory with room for so many bytes; of what does not fit, what does is written.
private final class SmallDisk: OutboxDisk {
  struct Full: Error {}

  private struct State {
    var names: [String: Int] = [:]
    var files: [Int: Data] = [:]
    var lastFile = 0
  }

  private final class File: OutboxDiskFile, OutboxDiskLock {
    private let disk: SmallDisk
    private let number: Int?

    init(_ disk: SmallDisk, _ number: Int? = nil) {
      (self.disk, self.number) = (disk, number)
    }

    func write(_ data: Data) throws {
      guard let number else { return }
      try disk.write(data, to: number)
    }

    func truncate(to length: Int) {
      guard let number else { return }
      disk.state.withLock { $0.files[number] = $0.files[number].map { Data($0.prefix(length)) } }
    }

    func sync() {}
    func close() {}
    func unlock() {}
  }

  private let room: Int
  private let state = Locked(State())

  init(room: Int) { self.room = room }

  var names: [String] { state.withLock { $0.names.keys.sorted() } }

  func lock(_ path: String) -> (any OutboxDiskLock)? { File(self) }
  func read(_ path: String) -> Data? { state.withLock { state in state.names[path].flatMap { state.files[$0] } } }
  func openForAppending(_ path: String) -> any OutboxDiskFile { File(self, state.withLock { $0.names[path] }) }

  func create(_ path: String) -> any OutboxDiskFile {
    let number = state.withLock { state in
      if let before = state.names[path] { state.files[before] = nil }
      state.lastFile += 1
      state.names[path] = state.lastFile
      state.files[state.lastFile] = Data()
      return state.lastFile
    }
    return File(self, number)
  }

  func rename(_ path: String, to other: String) {
    state.withLock { state in
      if let before = state.names[other] { state.files[before] = nil }
      state.names[other] = state.names.removeValue(forKey: path)
    }
  }

  func remove(_ path: String) {
    state.withLock { state in
      if let number = state.names.removeValue(forKey: path) { state.files[number] = nil }
    }
  }

  func syncFolder(of path: String) {}

  private func write(_ data: Data, to number: Int) throws {
    let isFull = state.withLock { state in
      let left = room - state.files.values.reduce(0) { $0 + $1.count }
      state.files[number]?.append(data.prefix(left))
      return data.count > left
    }
    if isFull { throw Full() }
  }
}
