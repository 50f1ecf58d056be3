import Foundation

/// What this process has taken of the machine.
enum Cost {
  /// User and system time so far, in seconds.
  static var processorSeconds: Double {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
    #else
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #endif
    let seconds: (timeval) -> Double = { Double($0.tv_sec) + Double($0.tv_usec) * 1e-6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  /// The most memory that was held so far, in MiB; `nil` where the system does not tell.
  static var peakMebibytes: Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    return kibibytes.map { ($0 + 512) / 1_024 }
  }
}
