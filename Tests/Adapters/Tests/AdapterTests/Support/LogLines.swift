import Logging
import Synchronization

/// Keeps the lines of a logger.
final class LogLines: Sendable {
  struct Line: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
    let source: String
  }

  private let kept = Mutex<[Line]>([])

  var lines: [Line] { kept.withLock { $0 } }

  func logger(at level: Logger.Level = .trace) -> Logger {
    Logger(label: "test") { _ in Handler(log: self, logLevel: level) }
  }

  private struct Handler: LogHandler {
    let log: LogLines
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(
      level: Logger.Level,
      message: Logger.Message,
      metadata: Logger.Metadata?,
      source: String,
      file: String,
      function: String,
      line: UInt
    ) {
      let line = Line(
        level: level,
        message: "\(message)",
        metadata: (metadata ?? [:]).mapValues { "\($0)" },
        source: source
      )
      log.kept.withLock { $0.append(line) }
    }
  }
}
