import Foundation

/// A folder, by Foundation: for platforms without the functions of POSIX, and compiled everywhere, so that its tests run
/// everywhere.
struct FoundationCacheFolder: CacheFolder {
  private let folder: URL

  init(_ url: URL) {
    folder = url
  }

  func make() throws {
    try FileManager.default.createDirectory(
      at: folder,
      withIntermediateDirectories: true,
      attributes: FoundationCacheFolder.permissions(0o700)
    )
  }

  func names() throws -> [String] {
    try FoundationCacheFolder.unlessMissing("list", ".") {
      try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } ?? []
  }

  func file(_ name: String) throws -> CacheFile? {
    let path = place(name).path
    let attributes = try FoundationCacheFolder.unlessMissing("look at", name) {
      try FileManager.default.attributesOfItem(atPath: path)
    }
    guard let attributes else { return nil }
    return CacheFile(
      number: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0,
      size: (attributes[.size] as? NSNumber)?.intValue ?? 0,
      changed: .seconds((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0),
      isPlain: attributes[.type] as? FileAttributeType == .typeRegular
    )
  }

  func read(_ name: String, limit: Int, count: Int) throws -> (bytes: Data, file: CacheFile)? {
    guard let before = try file(name), before.isPlain, before.size <= limit else { return nil }
    let bytes = try FoundationCacheFolder.unlessMissing("read", name) { () -> Data in
      let handle = try FileHandle(forReadingFrom: place(name))
      defer { try? handle.close() }
      return try handle.read(upToCount: min(before.size + 1, count)) ?? Data()
    }
    // Another may have come in its place meanwhile.
    guard let bytes, try file(name) == before else { return nil }
    return (bytes, before)
  }

  func create(_ name: String, _ bytes: Data, used: Duration) throws -> CacheFile {
    do {
      try bytes.write(to: place(name), options: .withoutOverwriting)
    } catch {
      // What stands in the way may be another's; half a file is not.
      let isOthers = (error as? CocoaError)?.code == .fileWriteFileExists
      if !isOthers { try? FileManager.default.removeItem(at: place(name)) }
      throw CacheFolderError("create", name, error)
    }
    do {
      try set(name, FoundationCacheFolder.permissions(0o600), used)
      guard let file = try file(name) else {
        throw CacheFolderError("look at", name, reason: "it is gone", isMissing: true)
      }
      return file
    } catch {
      try? FileManager.default.removeItem(at: place(name))
      throw error
    }
  }

  func rename(_ name: String, to other: String) throws {
    do {
      #if os(Windows)
        if try file(other) != nil {
          _ = try FileManager.default.replaceItemAt(place(other), withItemAt: place(name))
        } else {
          try FileManager.default.moveItem(at: place(name), to: place(other))
        }
      #else
        if Foundation.rename(place(name).path, place(other).path) != 0 {
          let code = POSIXErrorCode(rawValue: errno) ?? .EIO
          throw CacheFolderError("rename", name, reason: "\(POSIXError(code))", isMissing: code == .ENOENT)
        }
      #endif
    } catch let error as CacheFolderError {
      throw error
    } catch {
      throw CacheFolderError("rename", name, error)
    }
  }

  func use(_ name: String, at time: Duration) throws {
    try set(name, [:], time)
  }

  func remove(_ name: String) throws {
    guard let file = try file(name) else { return }
    let path = place(name).path
    // Foundation would remove a folder with all that is in it.
    if !file.isPlain, let inside = try? FileManager.default.contentsOfDirectory(atPath: path), !inside.isEmpty {
      throw CacheFolderError("remove", name, reason: "it is a folder with something in it", isMissing: false)
    }
    _ = try FoundationCacheFolder.unlessMissing("remove", name) { try FileManager.default.removeItem(atPath: path) }
  }

  private func place(_ name: String) -> URL { folder.appendingPathComponent(name) }

  private func set(_ name: String, _ attributes: [FileAttributeKey: Any], _ time: Duration) throws {
    var attributes = attributes
    attributes[.modificationDate] = Date(timeIntervalSince1970: time.inTimeInterval)
    do {
      try FileManager.default.setAttributes(attributes, ofItemAtPath: place(name).path)
    } catch {
      throw CacheFolderError("set the time of", name, error)
    }
  }

  private static func permissions(_ bits: Int) -> [FileAttributeKey: Any] {
    #if os(Windows)
      return [:]
    #else
      return [.posixPermissions: NSNumber(value: bits)]
    #endif
  }

  private static func unlessMissing<Result>(_ call: String, _ name: String, _ body: () throws -> Result) throws
    -> Result?
  {
    do {
      return try body()
    } catch {
      let error = CacheFolderError(call, name, error)
      if error.isMissing { return nil }
      throw error
    }
  }
}
