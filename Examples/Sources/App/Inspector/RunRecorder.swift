import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

/// Keeps what goes over the network for an app while the inspector is open, so that a failure can be saved as a test.
final class RunRecorder: Sendable {
  /// What belongs to a run, as the entries of an HTTP Archive.
  struct Exchanges {
    /// The entries, in order.
    let entries: [JSONValue]
    /// How many of the calls that were asked for are among them.
    let callCount: Int

    /// The entries as a file.
    func archive() throws -> Data {
      try JSONEncoder().encode(JSONValue.object(["log": .object(["entries": .array(entries)])]))
    }
  }

  private let lines: JSONLines
  private let prerequisite: String?
  private let log = HARLog(limit: 200)

  /// Makes an empty one.
  ///
  /// - Parameters:
  ///   - lines: Those that the inspector reads while it is open.
  ///   - prerequisite: The name of a request without whose answer no other can be replayed, however old that is: one for an
  ///     access token. Always kept, since such requests are few.
  init(lines: JSONLines, prerequisite: String? = nil) {
    self.lines = lines
    self.prerequisite = prerequisite
  }

  /// Keeps what happens in a call.
  func write(_ event: HTTPEvent) {
    if lines.isRead || event.operation == prerequisite { log.write(event) }
  }

  /// The exchanges of some calls, and the prerequisites that they were sent with.
  ///
  /// - Parameter calls: Their ids.
  func exchanges(of calls: Set<String>) throws -> Exchanges {
    let archive = try JSONDecoder().decode(JSONValue.self, from: log.export())
    let entries = archive["log"]?["entries"]?.elements ?? []
    let comments = entries.map { $0["comment"]?.string ?? "" }
    let owners = comments.map { comment in calls.first { comment.contains($0) } }
    let isPrerequisite = comments.map { comment in prerequisite.map { comment.hasPrefix($0) } ?? false }
    let first = owners.firstIndex { $0 != nil } ?? entries.endIndex
    let last = owners.lastIndex { $0 != nil } ?? first
    let latest = isPrerequisite[..<first].lastIndex(of: true) ?? first
    let kept = entries.indices.filter { index in
      owners[index] != nil || isPrerequisite[index] && (index == latest || index > first && index < last)
    }
    return Exchanges(entries: kept.map { entries[$0] }, callCount: Set(owners.compactMap(\.self)).count)
  }
}
