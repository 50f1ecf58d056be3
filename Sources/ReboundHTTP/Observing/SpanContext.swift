import Rebound

/// Which span of which trace something belongs to, as it is handed from one service to the next.
///
/// Read and written as the W3C's Trace Context has it (§3.2), in a header field `traceparent`:
/// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".
public struct SpanContext: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64
  private let span: UInt64
  /// Whether somebody keeps the trace.
  public let isSampled: Bool

  /// 32 hexadecimal digits, not all of them zero: the same for all that one thing sets off.
  public var traceID: String { CallIDs.text(high) + CallIDs.text(low) }
  /// 16 hexadecimal digits, not all of them zero.
  public var spanID: String { CallIDs.text(span) }

  /// The context of a call, or of one of its attempts, found again by whoever knows the call's id.
  ///
  /// - Parameters:
  ///   - id: The call's.
  ///   - attempt: The number of the attempt; `nil` for the call.
  ///   - parent: What has set the call off; `nil` where nothing has, so that it is a trace of its own.
  init(ofCall id: String, attempt: Int? = nil, under parent: SpanContext?) {
    let hash = SpanContext.hash(id)
    (high, low) = parent.map { ($0.high, $0.low) } ?? (SpanContext.number(hash, 1), SpanContext.number(hash, 2))
    span = SpanContext.number(hash, 3, attempt)
    isSampled = parent?.isSampled ?? true
  }

  /// Reads a header field; `nil` if it is none of the kind, which is then to be ignored (§4.3).
  public init?(traceparent text: String) {
    // By bytes: to compare characters takes time that grows with the square of a run of combining marks.
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count >= 4, let version = SpanContext.number(parts[0], digits: 2), version != 0xFF,
      version != 0 || parts.count == 4,
      parts[1].count == 32, let high = SpanContext.number(parts[1].prefix(16), digits: 16),
      let low = SpanContext.number(parts[1].suffix(16), digits: 16), high != 0 || low != 0,
      let span = SpanContext.number(parts[2], digits: 16), span != 0,
      let flags = SpanContext.number(parts[3], digits: 2)
    else { return nil }
    (self.high, self.low, self.span, isSampled) = (high, low, span, flags & 1 == 1)
  }

  /// The header field's text.
  public var traceparent: String {
    String(unsafeUninitializedCapacity: 55) { buffer in
      // The buffer has room for what was asked for, and all of it is filled.
      for dash in [2, 35, 52] { buffer[dash] = UInt8(ascii: "-") }
      CallIDs.write(0, digits: 2, at: 0, in: buffer)
      CallIDs.write(high, digits: 16, at: 3, in: buffer)
      CallIDs.write(low, digits: 16, at: 19, in: buffer)
      CallIDs.write(span, digits: 16, at: 36, in: buffer)
      CallIDs.write(isSampled ? 1 : 0, digits: 2, at: 53, in: buffer)
      return 55
    }
  }

  /// Reads as many hexadecimal digits, in lower case.
  private static func number(_ text: Substring.UTF8View, digits: Int) -> UInt64? {
    guard text.count == digits else { return nil }
    var number: UInt64 = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  /// A number that depends on each byte of an id: FNV-1a.
  private static func hash(_ id: String) -> UInt64 {
    var (id, hash): (String, UInt64) = (id, 0xcbf2_9ce4_8422_2325)
    id.withUTF8 { bytes in
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
    return hash
  }

  /// A number that depends on that of an id and on the number of the attempt, and is never zero.
  ///
  /// Mixed by the finaliser of SplitMix64, so that ids that differ in one digit differ in half of the bits.
  private static func number(_ hash: UInt64, _ salt: UInt64, _ attempt: Int? = nil) -> UInt64 {
    var hash = hash &+ salt &* 0x9e37_79b9_7f4a_7c15
    if let attempt { hash = (hash ^ UInt64(truncatingIfNeeded: attempt) << 8) &* 0x0000_0100_0000_01b3 }
    return max(SplitMix64.mixed(hash), 1)
  }
}
