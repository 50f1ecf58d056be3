import Foundation

@testable import ReboundOutbox

extension FuzzTarget {
  /// The file of an outbox: torn, damaged, or none.
  static let journal = FuzzTarget(
    "journal",
    seeds: [
      "\0\0\0\0" + String(decoding: OutboxJournal.preamble + OutboxJournal.line(of: Data("{}".utf8)), as: UTF8.self),
      "\u{1}\u{20}\u{8}\u{1}{\"a\":1}\n\n{\"b\":[]}\n{\"text\":\"Größe\"}",
      "\u{3}\u{9}\0\u{10}a\nb\nc", "\0\0\0\000000000 \nffffffff x\n+0000000 ",
    ],
    words: ["rebound-outbox", "00000000 \n", "\n", "{\"rebound-outbox\":2}"]
  ) { input in
    let (change, place, value) = (input.number(below: 8), input.integer(), input.byte())
    let rest = input.rest()
    checkAnyFile(Data(rest))
    // No file has so many bytes wrong that the rest is found by chance: 1 of 2³² damaged lines is.
    // In braces, as an outbox writes them: a record that ends like a line would be one once what is before it is lost.
    let records = rest.split(separator: 0x0A, omittingEmptySubsequences: false).map { Data([0x7B] + $0 + [0x7D]) }
    var file = records.reduce(into: OutboxJournal.preamble) { $0 += OutboxJournal.line(of: $1) }
    expectEqual(OutboxJournal.read(file).records, records, "what was written")
    damage(&file, change, at: Int(place.magnitude % UInt64(file.count)), value)
    let written = Set(records + [OutboxJournal.preamble.dropFirst(9).dropLast()].map { Data($0) })
    for record in OutboxJournal.read(file).records {
      expect(written.contains(record), "'\(String(decoding: record, as: UTF8.self))' was never written")
    }
    checkAnyFile(file)
  }

  /// Does one of eight kinds of harm to a file with something in it.
  static func damage(_ file: inout Data, _ change: Int, at place: Int, _ value: UInt8) {
    switch change {
    case 0: file = file.prefix(place)
    case 1: file = file.dropFirst(place)
    case 2, 3: file[file.startIndex + place] ^= max(value, 1)
    case 4: file.insert(value, at: file.startIndex + place)
    case 5: file.remove(at: file.startIndex + place)
    case 6: file.removeSubrange(file.startIndex + place..<min(file.startIndex + place + Int(value), file.endIndex))
    default: file += file.dropFirst(place)
    }
    file = Data(file)
  }

  private static func checkAnyFile(_ file: Data) {
    let reading = OutboxJournal.read(file)
    let length = reading.records.reduce(0) { $0 + $1.count + 10 }
    expect(length <= file.count, "more records than bytes")
    // A record whose line break alone is damaged is among these as well.
    expect(reading.tornBytes <= file.count, "more torn bytes than bytes")
    expect(reading.corruptLines == reading.corruptLines.sorted(), "line numbers out of order")
    let disk = FuzzDisk(file)
    guard let contents = try? open(disk) else {
      expectEqual(disk.file, file, "a file that was refused")
      return
    }
    expectEqual(contents.records, reading.records, "what a storage reads")
    expectEqual((try? open(disk))?.damage.isEmpty, reading.corruptLines.isEmpty, "what is wrong until it is mended")
    let again = try? open(disk, replacing: true)
    expectEqual(again?.records, contents.records, "what it reads once more")
    expectEqual((try? open(disk))?.records, contents.records, "what it reads once it is mended")
    expectEqual((try? open(disk))?.damage, [], "what is wrong once it is mended")
  }

  private static func open(_ disk: FuzzDisk, replacing: Bool = false) throws -> OutboxContents {
    let storage = FileOutboxStorage(path: FuzzDisk.path, disk: disk)
    defer { storage.close() }
    let contents = try storage.open()
    if replacing { try storage.replace(with: contents.records) }
    return contents
  }
}

/// A disk with one file that matters.
///
/// Unchecked, because a target uses it on one thread.
private final class FuzzDisk: OutboxDisk, @unchecked Sendable {
  final class File: OutboxDiskFile, OutboxDiskLock, @unchecked Sendable {
    var bytes: Data

    init(_ bytes: Data = Data()) { self.bytes = bytes }

    func write(_ data: Data) { bytes += data }
    func truncate(to length: Int) { bytes = bytes.prefix(length) }
    func sync() {}
    func close() {}
    func unlock() {}
  }

  static let path = "outbox"
  private var files: [String: File]

  init(_ bytes: Data) { files = [FuzzDisk.path: File(bytes)] }

  var file: Data? { files[FuzzDisk.path]?.bytes }

  func lock(_ path: String) -> (any OutboxDiskLock)? { File() }
  func read(_ path: String) -> Data? { files[path]?.bytes }
  func openForAppending(_ path: String) -> any OutboxDiskFile { files[path] ?? File() }
  func create(_ path: String) -> any OutboxDiskFile {
    let file = File()
    files[path] = file
    return file
  }
  func rename(_ path: String, to other: String) { files[other] = files.removeValue(forKey: path) }
  func remove(_ path: String) { files[path] = nil }
  func syncFolder(of path: String) {}
}
