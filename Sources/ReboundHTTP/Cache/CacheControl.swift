import Foundation
import Rebound

/// What a message says about caching (RFC 9111 §5.2).
struct CacheControl: Hashable, Sendable {
  private static let longestName = 64

  private let directives: [String: String]

  init(_ headers: HTTPHeaders) {
    var directives: [String: String] = [:]
    for value in headers.values(of: "Cache-Control") {
      for directive in CacheControl.split(value) {
        let parts = directive.split(separator: UInt8(ascii: "="), maxSplits: 1)
        // One with a longer name is none that means anything here, and to hash a long text of marks takes long.
        guard let first = parts.first, first.count <= CacheControl.longestName else { continue }
        let name = CacheControl.text(first).lowercased()
        // Of several the first counts (RFC 9111 §4.2.1).
        if directives[name] == nil { directives[name] = parts.count > 1 ? CacheControl.text(parts[1]) : "" }
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

  /// Parts a list at its commas, but not at those in quotes.
  private static func split(_ value: String) -> [ArraySlice<UInt8>] {
    let bytes = Array(value.utf8)
    var parts: [ArraySlice<UInt8>] = []
    var (start, position, mayQuote) = (0, 0, true)
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: ","):
        parts.append(bytes[start..<position])
        start = position + 1
      case UInt8(ascii: "\"") where mayQuote:
        // A quote that nothing ends hides nothing; there is none behind it either.
        if let end = endOfQuote(bytes, position) { position = end } else { mayQuote = false }
      default:
        break
      }
      position += 1
    }
    return parts + [bytes[start...]]
  }

  private static func endOfQuote(_ bytes: [UInt8], _ start: Int) -> Int? {
    var position = start + 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return position < bytes.count ? position : nil
  }

  private static func text(_ part: ArraySlice<UInt8>) -> String {
    String(decoding: trimmed(part).filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
  }
}
