#if os(Linux)
  import Foundation

  /// What the process holds of the system's.
  struct ProcessResources: Sendable {
    /// Open files, sockets, pipes and whatever else has a number.
    let descriptors: Int
    let threads: Int
    /// Resident memory in bytes.
    let memory: Int

    /// What it holds now.
    static var now: ProcessResources {
      ProcessResources(descriptors: openDescriptors, threads: entries("task").count, memory: residentMemory)
    }

    /// Less the one that reads the list.
    static var openDescriptors: Int { entries("fd").count - 1 }

    /// Those that are sockets or pipes.
    static var openConnections: Int {
      descriptorNames.count { $0.hasPrefix("socket:") || $0.hasPrefix("pipe:") }
    }

    /// What each open descriptor is.
    static var descriptorNames: [String] {
      entries("fd").compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    }

    /// Gives back to the system what was freed, so that resident memory is what is in use.
    static func trimMemory() {
      guard let symbol = dlsym(nil, "malloc_trim") else { return }
      // glibc's `int malloc_trim(size_t)`, whose header Swift does not import.
      let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
      _ = trim(0)
    }

    /// The most memory that was resident since the start, or since ``resetPeak()``.
    static var peakMemory: Int {
      let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Has ``peakMemory`` begin anew.
    static func resetPeak() {
      guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
      // Where the system does not allow it, the peak is that of the whole process, and a test the stricter.
      try? file.write(contentsOf: Data("5".utf8))
      try? file.close()
    }

    private static func entries(_ folder: String) -> [String] {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")) ?? []
    }

    private static var residentMemory: Int {
      let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      let pages = statm?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
  }
#endif
