import Foundation
import Rebound
import ReboundHTTP

/// Keeps what goes over the network for the weather while the inspector is open, so that a failure can be saved as a test.
final class WeatherRecorder: Sendable {
  /// What belongs to a run, as an HTTP Archive.
  struct Exchanges {
    /// The archive.
    let archive: Data
    /// How many of the calls that were asked for are in it.
    let callCount: Int
  }

  private let lines: JSONLines
  private let log = HARLog(limit: 200)

  /// Makes an empty one.
  ///
  /// - Parameter lines: Those that the inspector reads while it is open.
  init(lines: JSONLines) {
    self.lines = lines
  }

  /// Keeps what happens in a call.
  func write(_ event: HTTPEvent) {
    // Access tokens are few, and nothing can be replayed without the one that it was sent with, however old that is.
    if lines.isRead || event.operation == "AccessToken" { log.write(event) }
  }

  /// The exchanges of some calls, and those that brought their access tokens.
  ///
  /// - Parameter calls: Their ids.
  func exchanges(of calls: Set<String>) throws -> Exchanges {
    let archive = try JSONDecoder().decode(JSONValue.self, from: log.export())
    let entries = archive["log"]?["entries"]?.elements ?? []
    let owners = entries.map { entry in
      entry["comment"]?.string.flatMap { comment in calls.first { comment.contains($0) } }
    }
    let isToken = entries.map { entry in
      (entry["request"]?["url"]?.string).flatMap { URL(string: $0) }?.path == "/token"
    }
    let first = owners.firstIndex { $0 != nil } ?? entries.endIndex
    let last = owners.lastIndex { $0 != nil } ?? first
    let token = isToken[..<first].lastIndex(of: true) ?? first
    let kept = entries.indices.filter { index in
      owners[index] != nil || isToken[index] && (index == token || index > first && index < last)
    }
    var log = archive["log"]?.members ?? [:]
    log["entries"] = .array(kept.map { entries[$0] })
    return Exchanges(
      archive: try JSONEncoder().encode(JSONValue.object(["log": .object(log)])),
      callCount: Set(owners.compactMap(\.self)).count
    )
  }
}
