import Foundation
import Rebound
import StreamSupport

/// Keeps the copies of an ``HTTPCache`` in a folder: bounded, safe from crashes, and shared by processes.
///
///     let caches = URL(fileURLWithPath: "/var/cache/shop", isDirectory: true)
///     let cache = HTTPCache(storage: .folder(caches, maxBytes: 200_000_000, maxEntries: 20_000))
///
/// Each copy is a file, written beside its place and renamed: whoever reads finds the old copy or the new one, never a part,
/// and no process waits for another. One that redirects have led to has a small file more for each, which counts as one. There
/// is no lock and no file that lists the others; the folder is the truth, and what a process knows of it in memory only says
/// what is to go. Files are not synced: what the loss of power tears has a wrong checksum, and counts as never stored. A
/// process that ends while it writes leaves a file behind that is removed by whoever looks at the folder an hour later or
/// more.
///
/// When room is needed, what was not used for the longest time goes. A use is noted as the time of the file's last change,
/// once a minute at most, so that all processes know it. A process looks at the whole folder when it first stores something,
/// and again whenever it has added an eighth of what is allowed: so one process keeps to the bounds, and of several each
/// may be over them by an eighth. Sizes are rounded up to 4,096 bytes, as file systems do.
///
/// No name of a file gives away an address or a user: they are digests. Files are readable for the user alone, and so is
/// the folder, if the storage makes it; what they hold, an answer's body included, is not encrypted. Give the folder to
/// caches alone: all files in it that are named like theirs are theirs to remove; others are left alone.
///
/// There is no database in it, on purpose: the package builds with nothing but a Swift toolchain, and SQLite is a library of
/// the system that not all of Linux, Android and Windows have with its headers. Nor does a cache need what a database is
/// for: no copy has to do with another, and to lose one costs a request.
///
/// What works on the disk may be called from any thread, and blocks it.
public final class FileHTTPCacheStorage: HTTPCacheStorage, Sendable {
  /// How old a file is at least that nobody writes any more.
  private static let writingTime = Duration.seconds(3_600)
  /// How long a use is not noted again.
  private static let usePrecision = Duration.seconds(60)

  /// How many bytes the files take at most.
  public let maxBytes: Int
  /// How many copies there are at most.
  public let maxEntries: Int

  private let folder: any CacheFolder
  private let clock: @Sendable () -> Duration
  /// `nil` before the first look at the folder.
  private let index = Locked<CacheFolderIndex?>(nil)

  /// Makes a storage; nothing is read or written before a cache uses it.
  ///
  /// - Parameters:
  ///   - url: The folder; it is made when something is stored, and may be removed at any time. It should be on a disk of
  ///     the machine: the clocks of several machines order what was used last.
  ///   - maxBytes: How many bytes the files take at most.
  ///   - maxEntries: How many copies there are at most.
  public convenience init(at url: URL, maxBytes: Int = 100_000_000, maxEntries: Int = 10_000) {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
      let folder = SystemCacheFolder(url)
    #else
      let folder = FoundationCacheFolder(url)
    #endif
    self.init(
      in: folder,
      maxBytes: maxBytes,
      maxEntries: maxEntries,
      clock: TimeSource.deviceClock
    )
  }

  /// - Parameters:
  ///   - folder: Reads and writes.
  ///   - maxBytes: How many bytes the files take at most.
  ///   - maxEntries: How many copies there are at most.
  ///   - clock: The device's time, since the beginning of 1970.
  package init(
    in folder: any CacheFolder,
    maxBytes: Int,
    maxEntries: Int,
    clock: @escaping @Sendable () -> Duration
  ) {
    (self.maxBytes, self.maxEntries) = (max(maxBytes, 0), max(maxEntries, 0))
    (self.folder, self.clock) = (folder, clock)
  }

  /// How many bytes the copies in the folder take, those of other processes as well.
  ///
  /// - Complexity: O(n) in the files.
  public func usedBytes() throws -> Int {
    try lookAtFolder()
    return index.withLock { $0?.bytes ?? 0 }
  }

  // MARK: What a cache calls

  /// Finds a copy, and notes that it was used.
  public func find(_ name: HTTPCacheEntryName, known version: String?, limit: Int) throws -> HTTPCacheFinding {
    let name = "\(name)"
    guard let file = try folder.file(name) else {
      index.withLock { $0?.remove(name) }
      return .nothing
    }
    guard file.isPlain else {
      // A folder or a link in its place, which is none of the cache's.
      try folder.remove(name)
      return .nothing
    }
    if let version, version.hasPrefix(file.version),
      let (start, opened) = try folder.read(name, limit: .max, count: Self.start),
      Self.version(opened, start) == version
    {
      return .unchanged(version: Self.version(use(name, opened), start))
    }
    guard let found = try folder.read(name, limit: limit, count: .max) else { return .nothing }
    return .bytes(found.bytes, version: Self.version(use(name, found.file), found.bytes))
  }

  /// Stores a copy, after it has made room for it.
  public func store(_ bytes: Data, as name: HTTPCacheEntryName) throws -> String? {
    let name = "\(name)"
    if index.withLock({ $0?.isDue ?? true }) { try lookAtFolder() }
    let overdue = index.withLock { index in
      index.map { $0.overdue(for: bytes.count, named: name) } ?? []
    }
    guard let overdue else { return nil }
    try remove(overdue)
    let temporary = "\(name).\(Self.random()).new"
    let now = clock()
    let file = try create(temporary, bytes, now)
    do {
      try folder.rename(temporary, to: name)
    } catch let error as CacheFolderError where error.isMissing {
      // Somebody has forgotten this address, or everything, since it was written.
      return nil
    } catch {
      try? folder.remove(temporary)
      throw error
    }
    index.withLock { $0?.add(name, size: bytes.count, at: now) }
    return Self.version(file, bytes)
  }

  /// Removes a copy.
  public func remove(_ name: HTTPCacheEntryName) throws {
    try remove(["\(name)"])
  }

  /// Removes all copies of an address, and what is being written of it.
  ///
  /// - Complexity: O(n) in the files.
  public func removeAll(ofAddress address: String) throws {
    try forget(try folder.names().filter { Self.isOfCache($0) && $0.hasPrefix("\(address)-") })
  }

  /// Removes all copies, and what is being written.
  public func removeAll() throws {
    try forget(try folder.names().filter(Self.isOfCache))
  }

  // MARK: The folder

  /// How many bytes at the beginning of a file belong to its version: a copy has its checksum there.
  private static let start = 32

  /// What another file under the same name does not have, also if it has the number and the time of this one.
  private static func version(_ file: CacheFile, _ bytes: Data) -> String {
    "\(file.version).\(bytes.prefix(start).base64EncodedString())"
  }

  /// Notes a use, unless that was done a moment ago.
  ///
  /// - Returns: What is known about the file now.
  private func use(_ name: String, _ file: CacheFile) -> CacheFile {
    let now = clock()
    index.withLock { $0?.use(name, at: now) }
    let sinceChange = now - file.changed
    guard sinceChange >= Self.usePrecision || sinceChange <= .zero - Self.usePrecision else { return file }
    // If it fails, the file goes sooner than it should, and no more.
    guard (try? folder.use(name, at: now)) != nil, let after = try? folder.file(name) else { return file }
    // Another may have come in its place meanwhile; then the first bytes of the one that was read are not its own.
    return after
  }

  private func create(_ name: String, _ bytes: Data, _ now: Duration) throws -> CacheFile {
    do {
      return try folder.create(name, bytes, used: now)
    } catch let error as CacheFolderError where error.isMissing {
      // The first time, or somebody has removed it.
      try folder.make()
      return try folder.create(name, bytes, used: now)
    }
  }

  /// Removes files, as many as can be.
  ///
  /// - Throws: The first error.
  private func remove(_ names: [String]) throws {
    var failure: (any Error)?
    for name in names {
      do {
        try folder.remove(name)
        index.withLock { $0?.remove(name) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Removes copies, and what is being written to become one, also if whoever writes it is done meanwhile.
  private func forget(_ names: [String]) throws {
    let unfinished = names.filter { !Self.isCopy($0) }
    // Once its file is gone, nothing more takes a copy's name; until then, it may have.
    let finished = unfinished.map { String($0.prefix { $0 != "." }) }
    try remove(unfinished + names.filter(Self.isCopy) + finished)
  }

  /// Finds out what is there, and removes what was left behind and what there is no room for.
  private func lookAtFolder() throws {
    let now = clock()
    var copies: [(name: String, file: CacheFile)] = []
    var left: [String] = []
    for name in try folder.names() where Self.isOfCache(name) {
      guard let file = try folder.file(name) else { continue }
      if Self.isCopy(name) {
        if file.isPlain { copies.append((name, file)) }
      } else if now - file.changed > Self.writingTime || file.changed - now > Self.writingTime {
        left.append(name)
      }
    }
    let overdue = index.withLock { index in
      var fresh = index ?? CacheFolderIndex(maxBytes: maxBytes, maxEntries: maxEntries)
      fresh.look(at: copies, now: now, slack: Self.usePrecision)
      index = fresh
      return fresh.overdue(for: nil, named: nil) ?? []
    }
    // What cannot be removed takes room that is not counted, and is left for who may remove it.
    try? remove(left)
    try remove(overdue)
  }

  // MARK: Names

  private static let digits = 32

  private static func random() -> String { CallIDs.text(.random(in: .min ... .max)) }

  /// Whether a file is a copy: two digests with a hyphen between them.
  private static func isCopy(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { $0.count == digits && $0.allSatisfy(isDigit) }
  }

  /// Whether a file is a copy, or is being written to become one.
  private static func isOfCache(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return isCopy(name) }
    return isCopy(String(parts[0])) && parts[1].utf8.count == 16 && parts[1].utf8.allSatisfy(isDigit)
      && parts[2] == "new"
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}

extension HTTPCacheStorage where Self == FileHTTPCacheStorage {
  /// A folder, which other processes may share.
  ///
  /// - Parameters:
  ///   - url: Where it is, or is to be.
  ///   - maxBytes: How many bytes the files take at most.
  ///   - maxEntries: How many copies there are at most.
  public static func folder(
    _ url: URL,
    maxBytes: Int = 100_000_000,
    maxEntries: Int = 10_000
  ) -> FileHTTPCacheStorage {
    FileHTTPCacheStorage(at: url, maxBytes: maxBytes, maxEntries: maxEntries)
  }
}
