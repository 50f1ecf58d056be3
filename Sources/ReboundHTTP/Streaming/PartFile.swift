import Foundation

/// The part of a file that has come, beside the place where the whole is to be: "name.part", and in "name.part.json" what it
/// is a part of.
///
/// For one queue at a time. No other download, of this process or another, has the same part open.
final class PartFile {
  /// What is written beside the part, so that a later process can go on with it.
  ///
  /// The address stands there as its digest: it may hold a credential.
  private struct Note: Codable {
    let address: String
    let validator: String
    let length: Int64?
  }

  private let part: URL
  private let note: URL
  private let target: URL
  private let handle: FileHandle
  private let files: FileManager

  /// Opens the part, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - target: Where the whole is to be.
  ///   - files: Removes the note.
  /// - Throws: ``DownloadUnderWay``, or what the file system says.
  init(for target: URL, files: FileManager = .default) throws {
    (self.target, self.files) = (target, files)
    part = target.appendingPathExtension("part")
    note = part.appendingPathExtension("json")
    handle = try PartFile.open(part)
  }

  #if !os(Windows)
    deinit {
      // Closing is not enough: a process that is just being started has the descriptor, too, for a moment.
      flock(handle.fileDescriptor, LOCK_UN)
    }
  #endif

  #if os(Windows)
    private static func open(_ part: URL) throws -> FileHandle {
      if !FileManager.default.fileExists(atPath: part.path) { try Data().write(to: part, options: .withoutOverwriting) }
      return try FileHandle(forUpdating: part)
    }
  #else
    private static func open(_ part: URL) throws -> FileHandle {
      while true {
        let descriptor = systemOpen(part.path)
        guard descriptor >= 0 else { throw POSIXError.current }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try lock(descriptor, of: part)
        var (opened, named) = (stat(), stat())
        // Whoever held it may have been done meanwhile, so that what is open here is the finished file.
        if fstat(descriptor, &opened) == 0, stat(part.path, &named) == 0, opened.st_ino == named.st_ino {
          return handle
        }
      }
    }

    /// Keeps others out of an open part.
    static func lock(_ descriptor: Int32, of part: URL) throws {
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        if errno == EINTR { continue }
        if errno == EWOULDBLOCK { throw DownloadUnderWay(part: part) }
        // A file system may have no locks, or no more of them.
        throw POSIXError.current
      }
    }
  #endif

  /// What is there of the body at an address; nothing, if the part is of another, or not known to be of this.
  func partial(of address: String) throws -> PartialBody {
    let count = try handle.seekToEnd()
    guard
      let text = try? Data(contentsOf: note), let note = try? JSONDecoder().decode(Note.self, from: text),
      note.address == SHA256Digest.hexadecimal(of: address), Int64(count) <= note.length ?? .max
    else { return PartialBody() }
    return PartialBody(validator: note.validator, length: note.length, count: Int64(count))
  }

  /// Begins again with another body.
  func begin(_ partial: PartialBody, of address: String) throws {
    try empty()
    guard let validator = partial.validator else { return }
    let new = Note(address: SHA256Digest.hexadecimal(of: address), validator: validator, length: partial.length)
    // Without it no later process goes on with the part, and no more than that: its name may be too long.
    try? JSONEncoder().encode(new).write(to: note, options: .atomic)
  }

  /// Leaves nothing to go on with.
  func empty() throws {
    // In this order: at no time does a note stand beside bytes of another body.
    try handle.truncate(atOffset: 0)
    try removeNote()
  }

  /// Cuts it, so that it goes on from there.
  func cut(at offset: Int64) throws {
    try handle.truncate(atOffset: UInt64(offset))
  }

  func append(_ data: Data) throws {
    try handle.write(contentsOf: data)
  }

  /// Puts the whole where it belongs, in place of what may be there: at any moment the one or the other is there, whole.
  func complete(verifying checksum: Checksum?) throws {
    try handle.synchronize()
    if let checksum {
      do {
        try checksum.verify(part)
      } catch {
        try empty()
        throw error
      }
    }
    #if os(Windows)
      _ = try FileManager.default.replaceItemAt(target, withItemAt: part)
    #else
      guard rename(part.path, target.path) == 0 else { throw POSIXError.current }
    #endif
    // The file is there, whole. A note without a part says nothing, and goes when the next one begins.
    try? removeNote()
  }

  private func removeNote() throws {
    guard files.fileExists(atPath: note.path) else { return }
    do {
      try files.removeItem(at: note)
    } catch let error as CocoaError where [.fileNoSuchFile, .fileReadNoSuchFile].contains(error.code) {
      // The download before, which is done with the part, has just removed it.
    }
  }
}

#if !os(Windows)
  // A method above has the name of the function.
  private func systemOpen(_ path: String) -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666) }

  extension POSIXError {
    /// What the last call of the system has said.
    fileprivate static var current: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
#endif

/// Another download, of this process or another, writes to the same place.
public struct DownloadUnderWay: Error, Hashable, CustomStringConvertible {
  /// The file that both would write.
  public let part: URL

  /// What happened, and what to do next.
  public var description: String {
    "another download writes to \(part.lastPathComponent); wait for it, or give another file"
  }
}

extension DownloadUnderWay: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "This is being loaded already." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Wait until that is done, and try again." }
}
