import Foundation

/// Lines of a log, written by any thread.
///
/// Unchecked, because the lines are only touched under the lock.
final class Lines: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  var all: [String] { lock.withLock { lines } }

  func write(_ line: String) { lock.withLock { lines.append(line) } }
}
