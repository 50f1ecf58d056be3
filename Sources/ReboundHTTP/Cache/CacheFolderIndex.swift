/// What is in a cache's folder, as far as one process knows, and what goes when room is needed.
struct CacheFolderIndex: Sendable {
  /// What a file system gives to files at a time.
  private static let block = 4_096
  /// A process looks at the folder again when it has added so much of what is allowed: others add to it, too.
  private static let shareBetweenLooks = 8

  private struct File {
    var room: Int
    var used: Duration
  }

  let maxBytes: Int
  let maxEntries: Int
  private var files: [String: File] = [:]
  private(set) var bytes = 0
  private var addedBytes = 0
  private var addedEntries = 0

  /// Describes an empty folder.
  init(maxBytes: Int, maxEntries: Int) {
    (self.maxBytes, self.maxEntries) = (maxBytes, maxEntries)
  }

  var count: Int { files.count }

  /// How much room a file of a size takes.
  static func room(for size: Int) -> Int {
    let (padded, isTooLarge) = max(size, 1).addingReportingOverflow(block - 1)
    return isTooLarge ? .max : padded / block * block
  }

  /// Whether it is time to look at the folder again.
  var isDue: Bool {
    addedBytes > maxBytes / CacheFolderIndex.shareBetweenLooks
      || addedEntries > maxEntries / CacheFolderIndex.shareBetweenLooks
  }

  /// Takes over what is in the folder.
  ///
  /// What was changed later than now is the first to go: its time says nothing, and would keep it there.
  ///
  /// - Parameters:
  ///   - found: All copies there.
  ///   - now: The device's time, since the beginning of 1970.
  ///   - slack: By how much clocks may differ.
  mutating func look(at found: [(name: String, file: CacheFile)], now: Duration, slack: Duration) {
    let before = files
    files = [:]
    (bytes, addedBytes, addedEntries) = (0, 0, 0)
    for (name, file) in found {
      let noted = file.changed > now + slack ? .zero : file.changed
      let used = max(noted, before[name]?.used ?? .zero)
      put(name, File(room: CacheFolderIndex.room(for: file.size), used: used))
    }
  }

  /// Notes what was stored.
  mutating func add(_ name: String, size: Int, at now: Duration) {
    let room = CacheFolderIndex.room(for: size)
    put(name, File(room: room, used: now))
    addedBytes += room
    addedEntries += 1
  }

  /// Notes that a file was used, if it is known.
  mutating func use(_ name: String, at now: Duration) {
    files[name]?.used = now
  }

  /// Notes that a file is gone.
  mutating func remove(_ name: String) {
    guard let file = files.removeValue(forKey: name) else { return }
    bytes -= file.room
  }

  /// What is to be removed before a file is stored: what was not used for the longest time.
  ///
  /// An eighth of what is allowed more than needed, so that the sorting is paid for by what is stored meanwhile.
  ///
  /// - Parameters:
  ///   - size: The size of the new file; `nil` for none, as for a folder that is found too full.
  ///   - name: Its name; the one that it replaces goes in any case.
  /// - Returns: `nil` if there is no room however much is removed.
  func overdue(for size: Int?, named name: String?) -> [String]? {
    let room = size.map(CacheFolderIndex.room) ?? 0
    guard room <= maxBytes, size == nil || maxEntries > 0 else { return nil }
    let replaced = name.flatMap { files[$0] }
    var bytes = bytes - (replaced?.room ?? 0)
    var count = files.count - (replaced == nil ? 0 : 1) + (size == nil ? 0 : 1)
    guard bytes > maxBytes - room || count > maxEntries else { return [] }
    let (wantedBytes, wantedCount) = (maxBytes - maxBytes / 8, maxEntries - maxEntries / 8)
    var overdue: [String] = []
    for (other, file) in files.sorted(by: { ($0.value.used, $0.key) < ($1.value.used, $1.key) }) where other != name {
      guard bytes > max(wantedBytes - room, 0) || count > wantedCount else { break }
      overdue.append(other)
      bytes -= file.room
      count -= 1
    }
    return overdue
  }

  private mutating func put(_ name: String, _ file: File) {
    remove(name)
    files[name] = file
    bytes += file.room
  }
}
