import Foundation
import Rebound

/// What a message says about caching (RFC 9111 §5.2).
struct CacheControl: Hashable, Sendable {
  private static let longestName = 64

  private let directives: [String: String]

  init(_ headers: HTTPHeaders) {
    var directives: [String: String] = [:]
    for value in headers.values(of: "Cache-Control") {
      for directive in FieldParameter.all(in: value, apartBy: ",") {
        // One with a longer name is none that means anything here, and to hash a long text of marks takes long.
        guard directive.name.utf8.count <= CacheControl.longestName else { continue }
        let name = directive.name.lowercased()
        // Of several the first counts (RFC 9111 §4.2.1).
        if directives[name] == nil { directives[name] = directive.isWellFormed ? directive.value ?? "" : "" }
      }
    }
    self.directives = directives
  }

  func has(_ name: String) -> Bool { directives[name] != nil }

  /// A directive's number of seconds; one that is no number counts as zero, which is the safe side.
  func seconds(_ name: String) -> Duration? {
    return directives[name].map { CacheControl.deltaSeconds($0) ?? .zero }
  }

  /// A number of seconds; as many as the standard counts, 2³¹, if they are more (RFC 9111 §1.2.2); `nil` if it is none.
  static func deltaSeconds(_ text: String) -> Duration? {
    RetryAfter.seconds(in: text).map { .seconds(min($0, 1 << 31)) }
  }
}
