import Foundation

/// What a number of requests cost.
struct Cost {
  let requestCount: Int
  let failureCount: Int
  /// User and system time of this process, all threads, in seconds.
  let processorTime: Double
  let wallTime: Double

  /// Microseconds of processor time for each request.
  var perRequest: Double { processorTime / Double(requestCount) * 1e6 }
  var requestsPerSecond: Double { Double(requestCount) / wallTime }
}

/// Sends so many requests, some of them at once, and measures.
func measure(_ contestant: Contestant, requestCount: Int, inFlight: Int) -> Cost {
  let clock = ContinuousClock()
  let (start, processor) = (clock.now, processorSeconds())
  let failures = Counter()
  let group = DispatchGroup()
  let slots = DispatchSemaphore(value: inFlight)
  for _ in 0..<requestCount {
    slots.wait()
    group.enter()
    contestant.send { count in
      // No answer is empty.
      if count ?? 0 == 0 { failures.increment() }
      slots.signal()
      group.leave()
    }
  }
  group.wait()
  let wall = start.duration(to: clock.now).components
  return Cost(
    requestCount: requestCount,
    failureCount: failures.value,
    processorTime: processorSeconds() - processor,
    wallTime: Double(wall.seconds) + Double(wall.attoseconds) * 1e-18
  )
}

/// User and system time of this process so far.
func processorSeconds() -> Double {
  var usage = rusage()
  #if canImport(Darwin)
    getrusage(RUSAGE_SELF, &usage)
  #else
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  #endif
  let seconds: (timeval) -> Double = { Double($0.tv_sec) + Double($0.tv_usec) * 1e-6 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Bytes of memory that this process holds; zero where the system does not tell.
func residentBytes() -> Int {
  let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  let pages = statm?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// The most memory that this process held since ``resetPeakBytes()``; zero where the system does not tell.
func peakBytes() -> Int {
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

/// Has ``peakBytes()`` begin anew.
func resetPeakBytes() {
  guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
  // Where the system does not allow it, the peak is that of all that came before as well.
  try? file.write(contentsOf: Data("5".utf8))
  try? file.close()
}

/// What this process has open, and how often: "socket", "anon_inode:[eventpoll]", the path of a file.
///
/// Empty where the system does not tell.
func openDescriptors() -> [String: Int] {
  let folder = "/proc/self/fd"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  let targets = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
  // A socket's number behind the colon is its own.
  let kinds = targets.map { $0.hasPrefix("socket:") ? "socket" : $0 }
  return Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
}

/// The threads of this process, by name; empty where the system does not tell.
func threads() -> [String] {
  let folder = "/proc/self/task"
  let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return numbers.compactMap { try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8) }
    .map { $0.trimmingCharacters(in: .newlines) }.sorted()
}

/// Unchecked, because the lock guards it.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var value: Int { lock.withLock { count } }

  func increment() { lock.withLock { count += 1 } }
}
