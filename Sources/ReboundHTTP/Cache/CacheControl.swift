import Foundation
import Rebound

/// What a message says about caching (RFC 9111 §5.2).
struct CacheControl: Hashable, Sendable {
  private let directives: [String: String]

  init(_ headers: HTTPHeaders) {
    var directives: [String: String] = [:]
    for value in headers.values(of: "Cache-Control") {
      for directive in CacheControl.split(value) {
        let parts = directive.split(separator: "=", maxSplits: 1)
        guard let name = parts.first else { continue }
        let argument = parts.count > 1 ? CacheControl.text(parts[1]) : ""
        directives[CacheControl.text(name).lowercased(), default: argument] = argument
      }
    }
    self.directives = directives
  }

  func has(_ name: String) -> Bool { directives[name] != nil }

  /// A directive's number of seconds; one that is no number counts as zero, which is the safe side.
  func seconds(_ name: String) -> Duration? {
    guard let argument = directives[name] else { return nil }
    return .seconds(min(UInt32(argument) ?? (argument.allSatisfy(\.isNumber) && !argument.isEmpty ? .max : 0), 1 << 31))
  }

  /// Parts a list at its commas, but not at those in quotes.
  private static func split(_ value: String) -> [Substring] {
    var isQuoted = false
    return value.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  private static func text(_ part: Substring) -> String {
    String(decoding: trimmed(part.utf8), as: UTF8.self).replacingOccurrences(of: "\"", with: "")
  }
}
