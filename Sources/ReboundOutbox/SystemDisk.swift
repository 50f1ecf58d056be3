import Foundation
import StreamSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

#if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
  /// The system's files.
  struct SystemDisk: OutboxDisk {
    // Only for the user who runs the program: entries may hold what others must not read.
    private static let permissions: mode_t = 0o600

    func lock(_ path: String) throws -> (any OutboxDiskLock)? {
      let descriptor = try SystemDisk.open(path, O_RDWR | O_CREAT)
      // Each descriptor has a lock of its own, so two outboxes of one process exclude each other, too.
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        let number = errno
        if number == EINTR { continue }
        systemClose(descriptor)
        if number == EWOULDBLOCK { return nil }
        throw SystemDisk.failure("lock", path, number)
      }
      return SystemFile(descriptor, path)
    }

    func read(_ path: String) throws -> Data? {
      guard let descriptor = try SystemDisk.open(path, O_RDONLY, mayBeMissing: true) else { return nil }
      defer { systemClose(descriptor) }
      var data = Data()
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let capacity = buffer.count
        let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, capacity) }
        if count == 0 { return data }
        if count > 0 {
          data.append(contentsOf: buffer[..<count])
        } else if errno != EINTR {
          throw SystemDisk.failure("read", path, errno)
        }
      }
    }

    func openForAppending(_ path: String) throws -> any OutboxDiskFile {
      SystemFile(try SystemDisk.open(path, O_WRONLY | O_APPEND), path)
    }

    func create(_ path: String) throws -> any OutboxDiskFile {
      SystemFile(try SystemDisk.open(path, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC), path)
    }

    func rename(_ path: String, to other: String) throws {
      if systemRename(path, other) != 0 { throw SystemDisk.failure("rename", path, errno) }
    }

    func remove(_ path: String) throws {
      if systemUnlink(path) != 0 { throw SystemDisk.failure("remove", path, errno) }
    }

    func syncFolder(of path: String) throws {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let descriptor = try SystemDisk.open(folder, O_RDONLY)
      defer { systemClose(descriptor) }
      if fsync(descriptor) != 0 { throw SystemDisk.failure("sync", folder, errno) }
    }

    private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
      guard let descriptor = try open(path, flags, mayBeMissing: false) else { throw failure("open", path, ENOENT) }
      return descriptor
    }

    private static func open(_ path: String, _ flags: Int32, mayBeMissing: Bool) throws -> Int32? {
      while true {
        let descriptor = systemOpen(path, flags | O_CLOEXEC, permissions)
        if descriptor >= 0 { return descriptor }
        let number = errno
        if number == ENOENT, mayBeMissing { return nil }
        if number != EINTR { throw failure("open", path, number) }
      }
    }

    fileprivate static func failure(_ call: String, _ path: String, _ number: Int32) -> OutboxStorageFailure {
      .system(call, path: path, reason: String(cString: strerror(number)))
    }
  }

  // The methods above have the names of the functions that they call.
  private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
  private func systemRename(_ path: String, _ other: String) -> Int32 { rename(path, other) }
  private func systemUnlink(_ path: String) -> Int32 { unlink(path) }
  private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
  }
  private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
  }
  private func systemClose(_ descriptor: Int32) { close(descriptor) }

  /// An open file, or a lock; the storage uses it from one thread at a time.
  private final class SystemFile: OutboxDiskFile, OutboxDiskLock, Sendable {
    private let descriptor: Locked<Int32?>
    private let path: String

    init(_ descriptor: Int32, _ path: String) {
      self.descriptor = Locked(descriptor)
      self.path = path
    }

    deinit {
      unlock()
    }

    func write(_ data: Data) throws {
      let descriptor = try opened()
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
          rest = rest.dropFirst(count)
        } else if errno != EINTR {
          throw SystemDisk.failure("write", path, errno)
        }
      }
    }

    func sync() throws {
      let descriptor = try opened()
      #if canImport(Darwin)
        // There fsync leaves the data in the drive's own memory.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
      #endif
      if fsync(descriptor) != 0 { throw SystemDisk.failure("sync", path, errno) }
    }

    func truncate(to length: Int) throws {
      if ftruncate(try opened(), off_t(length)) != 0 { throw SystemDisk.failure("truncate", path, errno) }
    }

    func close() {
      if let open = descriptor.exchange(nil) { systemClose(open) }
    }

    func unlock() {
      // Closing is not enough: a process that is just being started has the descriptor, too, for a moment.
      descriptor.withLock { descriptor in
        if let descriptor { _ = flock(descriptor, LOCK_UN) }
      }
      close()
    }

    private func opened() throws -> Int32 {
      guard let descriptor = descriptor.withLock({ $0 }) else { throw OutboxStorageFailure.notReady(path) }
      return descriptor
    }
  }
#endif
