/// Which span of which trace something belongs to, as it is handed from one service to the next.
///
/// Read and written as the W3C's Trace Context has it (§3.2), in a header field `traceparent`:
/// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".
public struct SpanContext: Hashable, Sendable {
  /// 32 hexadecimal digits, not all of them zero: the same for all that one thing sets off.
  public let traceID: String
  /// 16 hexadecimal digits, not all of them zero.
  public let spanID: String
  /// Whether somebody keeps the trace.
  public let isSampled: Bool

  init(traceID: String, spanID: String, isSampled: Bool) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
  }

  /// Reads a header field; `nil` if it is none of the kind, which is then to be ignored (§4.3).
  public init?(traceparent text: String) {
    // By bytes: to compare characters takes time that grows with the square of a run of combining marks.
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map { Substring($0) }
    guard parts.count >= 4, Self.isID(parts[0], digits: 2, maybeZero: true),
      parts[0] != "ff", parts[0] != "00" || parts.count == 4,
      Self.isID(parts[1], digits: 32, maybeZero: false),
      Self.isID(parts[2], digits: 16, maybeZero: false),
      Self.isID(parts[3], digits: 2, maybeZero: true),
      let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    self.init(traceID: String(parts[1]), spanID: String(parts[2]), isSampled: flags & 1 == 1)
  }

  /// The header field's text.
  public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

  private static func isID(_ text: Substring, digits: Int, maybeZero: Bool) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
      && (maybeZero || text.utf8.contains { $0 != UInt8(ascii: "0") })
  }
}

extension SpanContext {
  /// The trace of a call that nothing else has set off, found again by whoever knows the call's id.
  static func traceID(ofCall id: String) -> String { digits(id, 1) + digits(id, 2) }

  /// The span of a call, or of one of its attempts.
  static func spanID(ofCall id: String, attempt: Int? = nil) -> String {
    digits("\(id)/\(attempt.map { "\($0)" } ?? "")", 3)
  }

  /// 16 digits that depend on each byte of a text, and are never all zero.
  ///
  /// FNV-1a, then the finaliser of SplitMix64, so that texts that differ in one digit differ in half of the bits.
  private static func digits(_ text: String, _ salt: UInt64) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ salt
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    hash = (hash ^ (hash >> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash >> 27)) &* 0x94d0_49bb_1331_11eb
    hash ^= hash >> 31
    return CallIDs.text(max(hash, 1))
  }
}
