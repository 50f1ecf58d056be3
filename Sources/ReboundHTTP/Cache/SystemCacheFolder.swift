#if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
  import Foundation

  /// A folder, by the functions of POSIX.
  struct SystemCacheFolder: CacheFolder {
    // Answers may hold what others must not read.
    private static let permissions: mode_t = 0o600

    let path: String

    init(_ url: URL) {
      path = url.path
    }

    func make() throws {
      try FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: NSNumber(value: 0o700)]
      )
    }

    func names() throws -> [String] {
      do {
        return try FileManager.default.contentsOfDirectory(atPath: path)
      } catch {
        // No second look: another process may have made the folder since.
        let failure = CacheFolderError("list", ".", error)
        if failure.isMissing { return [] }
        throw failure
      }
    }

    func file(_ name: String) throws -> CacheFile? {
      var status = stat()
      // Not through a link, which is none of the cache's.
      guard lstat(place(name), &status) == 0 else {
        if errno == ENOENT { return nil }
        throw SystemCacheFolder.error("stat", name)
      }
      return CacheFile(status)
    }

    func read(_ name: String, limit: Int, count wanted: Int) throws -> (bytes: Data, file: CacheFile)? {
      // Without waiting, should it be a pipe.
      let descriptor = openFile(place(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
      guard descriptor >= 0 else {
        if errno == ENOENT || errno == ELOOP { return nil }
        throw SystemCacheFolder.error("open", name)
      }
      defer { closeFile(descriptor) }
      let file = try opened(descriptor, name)
      guard file.isPlain, file.size <= limit else { return nil }
      // A byte more than there are, so that a file that grows meanwhile is none of the cache's.
      var bytes = Data(count: min(file.size + 1, wanted))
      var count = 0
      while count < bytes.count {
        let read = bytes.withUnsafeMutableBytes { buffer in
          // The buffer is not empty, and `count` is within it.
          readFile(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
        }
        if read == 0 { break }
        if read > 0 { count += read } else if errno != EINTR { throw SystemCacheFolder.error("read", name) }
      }
      return (bytes.prefix(count), file)
    }

    func create(_ name: String, _ bytes: Data, used: Duration) throws -> CacheFile {
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
      let descriptor = openFile(place(name), flags, SystemCacheFolder.permissions)
      guard descriptor >= 0 else { throw SystemCacheFolder.error("create", name) }
      do {
        let file = try fill(descriptor, with: bytes, used, name)
        // Some file systems say only now that there was no room.
        if closeFile(descriptor) != 0 { throw SystemCacheFolder.error("close", name) }
        return file
      } catch {
        unlink(place(name))
        throw error
      }
    }

    func rename(_ name: String, to other: String) throws {
      if renameFile(place(name), place(other)) != 0 { throw SystemCacheFolder.error("rename", name) }
    }

    func use(_ name: String, at time: Duration) throws {
      var times = SystemCacheFolder.times(time)
      if utimensat(AT_FDCWD, place(name), &times, AT_SYMLINK_NOFOLLOW) != 0 {
        throw SystemCacheFolder.error("set the time of", name)
      }
    }

    func remove(_ name: String) throws {
      if unlink(place(name)) == 0 || errno == ENOENT { return }
      let error = SystemCacheFolder.error("remove", name)
      // Systems differ in what they say of a folder; one with something in it is left alone.
      if rmdir(place(name)) == 0 || errno == ENOENT { return }
      throw error
    }

    private func place(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes all of a file; if that fails, closes it.
    private func fill(_ descriptor: Int32, with bytes: Data, _ used: Duration, _ name: String) throws -> CacheFile {
      do {
        var rest = bytes[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { writeFile(descriptor, $0.baseAddress, $0.count) }
          if count >= 0 {
            rest = rest.dropFirst(count)
          } else if errno != EINTR {
            throw SystemCacheFolder.error("write", name)
          }
        }
        var times = SystemCacheFolder.times(used)
        if futimens(descriptor, &times) != 0 { throw SystemCacheFolder.error("set the time of", name) }
        return try opened(descriptor, name)
      } catch {
        closeFile(descriptor)
        throw error
      }
    }

    private func opened(_ descriptor: Int32, _ name: String) throws -> CacheFile {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw SystemCacheFolder.error("stat", name) }
      return CacheFile(status)
    }

    /// Of the last access and the last change.
    private static func times(_ time: Duration) -> [timespec] {
      let (seconds, attoseconds) = time.components
      var moment = timespec()
      moment.tv_sec = time_t(clamping: seconds)
      moment.tv_nsec = Int(max(attoseconds, 0) / 1_000_000_000)
      return [moment, moment]
    }

    /// What the last call of the system has said.
    private static func error(_ call: String, _ name: String) -> CacheFolderError {
      let number = errno
      return CacheFolderError(call, name, reason: String(cString: strerror(number)), isMissing: number == ENOENT)
    }
  }

  extension CacheFile {
    fileprivate init(_ status: stat) {
      #if canImport(Darwin)
        let changed = status.st_mtimespec
      #else
        let changed = status.st_mtim
      #endif
      self.init(
        number: UInt64(status.st_ino),
        size: Int(status.st_size),
        changed: .seconds(Int64(changed.tv_sec)) + .nanoseconds(Int64(changed.tv_nsec)),
        // The types of these three differ from system to system.
        isPlain: UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(S_IFREG)
      )
    }
  }

  // Methods above have the names of the functions.
  private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
  private func renameFile(_ path: String, _ other: String) -> Int32 { rename(path, other) }
  private func readFile(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
  }
  private func writeFile(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
  }
  @discardableResult private func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
