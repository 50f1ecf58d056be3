import Foundation
import StreamSupport

/// Keeps the entries of an outbox in a file, so that they survive the end of the process and the loss of power.
///
///     let folder = URL(fileURLWithPath: "/var/lib/shop", isDirectory: true)
///     let storage = FileOutboxStorage(at: folder.appending(path: "orders.outbox"))
///
/// The file is a journal: each change is one line of JSON with a checksum, written behind the others and synced before
/// the outbox says that it is stored. From time to time the outbox replaces it by a shorter one that means the same:
/// written beside it, synced, renamed over it, the folder synced; so at any moment one whole journal is there.
///
/// A last line without an end was being written when the process ended; it is dropped and reported. Lines with a wrong
/// checksum are reported and left out, and the file as it was is kept beside, with `.damaged-` and a number added to its name;
/// until the outbox, having heard of them, replaces all, they are found again. A file that is no journal at all, or one of a
/// later version, is refused and left alone.
///
/// The folder has to be there. A second file, with `.lock` added to the name, keeps others out for as long as an outbox
/// has the storage open: another in the same process as well as one in another process, on the same machine. Give the
/// file to no two machines. All files are readable for the user alone; nothing is encrypted.
///
/// Not on Windows and WASI, which have other files and locks. What works on the disk is called by one thread at a time, as
/// ``OutboxStorage`` says.
public final class FileOutboxStorage: OutboxStorage, Sendable {
  private struct Held {
    let lock: any OutboxDiskLock
    /// `nil` after a failure, and if lines are damaged, until all is replaced.
    var file: (any OutboxDiskFile)?
    /// How many bytes are whole.
    var length: Int
    /// The journal in its place, if lines of it are damaged, and whether there was no copy of it before.
    var damaged: (bytes: Data, isNew: Bool)?
  }

  private let path: String
  private let disk: any OutboxDisk
  private let held = Locked<Held?>(nil)

  /// - Parameters:
  ///   - path: Where the journal is.
  ///   - disk: Reads and writes it.
  package init(path: String, disk: any OutboxDisk) {
    self.path = path
    self.disk = disk
  }

  #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    /// Makes a storage; nothing is read or written before an outbox opens it.
    ///
    /// - Parameter url: Where the file is, or is to be.
    public convenience init(at url: URL) {
      self.init(path: url.path, disk: SystemDisk())
    }
  #endif

  deinit {
    close()
  }

  /// Takes hold of the file, and reads all records.
  ///
  /// - Throws: ``OutboxStorageFailure``.
  public func open() throws -> OutboxContents {
    guard held.withLock({ $0 == nil }), let own = try disk.lock(path + ".lock") else {
      throw OutboxStorageFailure.inUse(path)
    }
    do {
      return try read(holding: own)
    } catch {
      close()
      own.unlock()
      throw error
    }
  }

  /// Adds records behind the others.
  public func append(_ records: [Data], durably: Bool) throws {
    guard let held = held.withLock({ $0 }), let file = held.file else { throw OutboxStorageFailure.notReady(path) }
    let lines = records.reduce(into: Data()) { $0 += OutboxJournal.line(of: $1) }
    do {
      try file.write(lines)
      if durably { try file.sync() }
      self.held.withLock { $0?.length = held.length + lines.count }
    } catch {
      // What was refused should not be there after a restart. If it cannot be cut off, it may be; nobody was promised
      // anything.
      try? file.truncate(to: held.length)
      letGoOfFile()
      throw error
    }
  }

  /// Replaces all records by others.
  public func replace(with records: [Data]) throws {
    guard let held = held.withLock({ $0 }) else { throw OutboxStorageFailure.notReady(path) }
    let lines = records.reduce(into: OutboxJournal.preamble) { $0 += OutboxJournal.line(of: $1) }
    let copy = try held.damaged.map { try keepAside($0.bytes) }
    let fresh: any OutboxDiskFile
    do {
      fresh = try putInPlace(lines)
    } catch {
      // As long as the damaged journal is in its place, a copy only takes the room that its replacement needs.
      if let (bytes, isNew) = held.damaged, let copy, isNew || copy.isNew, (try? disk.read(path)) == bytes {
        try? disk.remove(copy.path)
      }
      throw error
    }
    // From here on the name means the new file, whether or not that survives the loss of power.
    self.held.withLock { $0?.damaged = nil }
    letGoOfFile()
    do {
      try disk.syncFolder(of: path)
    } catch {
      fresh.close()
      throw error
    }
    self.held.withLock { held in
      held?.file = fresh
      held?.length = lines.count
    }
  }

  /// Writes a file beside the journal, and gives it the journal's name.
  private func putInPlace(_ lines: Data) throws -> any OutboxDiskFile {
    let fresh = try disk.create(path + ".new")
    do {
      try fresh.write(lines)
      try fresh.sync()
      try disk.rename(path + ".new", to: path)
      return fresh
    } catch {
      // The room that it takes is needed by the journal that stays.
      fresh.close()
      try? disk.remove(path + ".new")
      throw error
    }
  }

  /// Lets go of the file.
  public func close() {
    let before = held.exchange(nil)
    before?.file?.close()
    before?.lock.unlock()
  }

  private func letGoOfFile() {
    let file = held.withLock { $0?.file.take() }
    file?.close()
  }

  private func read(holding own: any OutboxDiskLock) throws -> OutboxContents {
    let bytes = try disk.read(path)
    let reading = OutboxJournal.read(bytes ?? Data())
    if let version = reading.version, version > OutboxJournal.version {
      throw OutboxStorageFailure.laterVersion(path, version: version)
    }
    if let bytes, !bytes.isEmpty, !reading.hasWholeLine { throw OutboxStorageFailure.notAnOutbox(path) }
    var contents = OutboxContents(records: reading.records)
    var damaged: (Data, isNew: Bool)?
    if let bytes, !reading.corruptLines.isEmpty {
      let copy = try keepAside(bytes)
      contents.damage.append(.corrupt(lines: reading.corruptLines, keptAt: copy.path))
      damaged = (bytes, copy.isNew)
    }
    if reading.tornBytes > 0 { contents.damage.append(.torn(bytes: reading.tornBytes)) }
    held.withLock { $0 = Held(lock: own, file: nil, length: bytes?.count ?? 0, damaged: damaged) }
    if damaged != nil {
      // Whoever hears of it replaces it. If the process ended between the two, nobody else would ever hear of it.
    } else if reading.version == nil || !contents.damage.isEmpty {
      try replace(with: contents.records)
    } else {
      // The process that put the journal in its place may have ended before that would survive the loss of power.
      try disk.syncFolder(of: path)
      let file = try disk.openForAppending(path)
      held.withLock { $0?.file = file }
    }
    return contents
  }

  /// Keeps a damaged file under a name that is free, unless it is kept already.
  private func keepAside(_ bytes: Data) throws -> (path: String, isNew: Bool) {
    var number = 1
    var (copy, there) = try aside(number)
    while there != nil, there != bytes {
      number += 1
      (copy, there) = try aside(number)
    }
    let isNew = there == nil
    let file = isNew ? try disk.create(copy) : try disk.openForAppending(copy)
    defer { file.close() }
    do {
      if isNew { try file.write(bytes) }
      // The process that has made the copy may have ended before it was synced.
      try file.sync()
      try disk.syncFolder(of: copy)
    } catch {
      // The next time, a part of it would count as a copy.
      if isNew { try? disk.remove(copy) }
      throw error
    }
    return (copy, isNew)
  }

  /// A name for a damaged file, and what has it.
  private func aside(_ number: Int) throws -> (path: String, bytes: Data?) {
    let name = "\(path).damaged-\(number)"
    return (name, try disk.read(name))
  }
}
