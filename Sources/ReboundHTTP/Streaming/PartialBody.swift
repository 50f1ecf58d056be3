import Foundation

/// What has come of a body, and how the rest is asked for (RFC 9110 §13.1.5, §14).
struct PartialBody: Hashable, Sendable {
  /// A strong validator of the representation, as If-Range takes it; without one, a part is of no use.
  var validator: String?
  /// How many bytes the whole has, if that is known.
  var length: Int64?
  /// How many bytes are there.
  var count: Int64 = 0
  /// Where the answer to the present request is to begin; `nil` if all was asked for.
  private(set) var asked: Int64?
  /// How many bytes are there once the answer has come, and no more than that; `nil` if it is no range.
  private var promised: Int64?
  /// Whether the caller wants a range of his own, which is a whole to him.
  private var isOwnRange = false
  /// Whether all of it is asked for the next time, whatever is there.
  private(set) var mustStartAnew = false

  init() {}

  init(validator: String?, length: Int64?, count: Int64) {
    self.validator = validator
    self.length = length
    self.count = count
  }

  var progress: BodyProgress { BodyProgress(count: count, total: length) }
  /// Whether bytes are missing, although the answer is complete.
  var isShort: Bool { length.map { count < $0 } ?? false }

  /// Has a request ask for what is missing.
  mutating func prepare(_ message: inout TransportRequest) {
    asked = nil
    // A range is one of the bytes as they are sent; packed ones would have to be unpacked from the start.
    if !message.headers.contains(name: "Accept-Encoding") { message.headers["Accept-Encoding"] = "identity" }
    isOwnRange = message.headers.contains(name: "Range")
    guard !mustStartAnew, !isOwnRange, message.method == .get, let validator, count > 0 else { return }
    // Of a body that is complete the last byte is asked for once more: so the server says that it is still the same, and
    // an answer that it is not costs no more requests.
    let start = length.map { min(count, $0 - 1) } ?? count
    guard start > 0 else { return }
    asked = start
    message.headers["Range"] = "bytes=\(start)-"
    message.headers["If-Range"] = validator
  }

  /// What an answer is good for.
  func use(of head: ResponseHead) -> BodyUse {
    switch head.status {
    case 206 where !isOwnRange:
      guard let asked else { return .refusal }
      guard
        let range = ContentRange(head), range.start == asked, isSame(head), agrees(range.length),
        head.headers["Content-Length"].map({ Int64($0) == range.count }) ?? true,
        // What is there is not packed.
        !head.headers.contains(name: "Content-Encoding")
      else { return .startAnew }
      return .body
    case 416 where asked != nil:
      return .startAnew
    case 200...299:
      return .body
    default:
      return .refusal
    }
  }

  /// Asks for all of it the next time.
  mutating func startAnew() {
    mustStartAnew = true
  }

  /// Takes in the head of an answer that is good for its body.
  ///
  /// - Returns: Where its bytes belong.
  mutating func begin(_ head: ResponseHead) -> Int64 {
    mustStartAnew = false
    let range = head.status == 206 && !isOwnRange ? ContentRange(head) : nil
    promised = range.map { $0.start + $0.count }
    if let asked, let range {
      length = range.length ?? length
      return asked
    }
    // A range of the caller's own, and what is packed, is no whole that could be gone on with.
    validator = isOwnRange || head.headers.contains(name: "Content-Encoding") ? nil : head.strongValidator
    length = head.bodyLength
    return 0
  }

  /// Counts bytes that an answer has brought.
  ///
  /// - Returns: Whether they belong there. If not, nothing of this answer can be trusted, and all is asked for the next time.
  mutating func add(_ more: Int) -> Bool {
    guard promised.map({ count + Int64(more) <= $0 }) ?? true else {
      mustStartAnew = true
      return false
    }
    count += Int64(more)
    return true
  }

  /// Whether an answer is of the same body: its server may know ranges, and not If-Range.
  ///
  /// One that knows both need not say the date again (RFC 9110 §15.3.7).
  private func isSame(_ head: ResponseHead) -> Bool {
    let name = validator?.hasPrefix("\"") ?? false ? "ETag" : "Last-Modified"
    return head.headers[name].map { $0 == validator } ?? true
  }

  /// Whether a range is of a body of the same length.
  ///
  /// A server may bring less than was asked for (RFC 9110 §15.3.7): where nobody says how long the whole is, nobody knows
  /// whether its end has come.
  private func agrees(_ length: Int64?) -> Bool {
    guard let known = self.length ?? length else { return false }
    return length ?? known == known
  }
}

/// Which bytes an answer brings (RFC 9110 §14.4).
struct ContentRange: Hashable, Sendable {
  let start: Int64
  let end: Int64
  /// How many bytes the whole has; `nil` if the server does not know.
  let length: Int64?

  /// How many bytes it brings.
  var count: Int64 { end - start + 1 }

  init?(_ head: ResponseHead) {
    guard let field = head.headers["Content-Range"] else { return nil }
    self.init(field)
  }

  /// Reads "bytes 100-199/1000".
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2 else { return nil }
    let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false).map(ContentRange.number)
    guard ends.count == 2, let start = ends[0], let end = ends[1], start <= end else { return nil }
    let length = ContentRange.number(sides[1])
    guard length != nil || sides[1] == "*", end < length ?? .max else { return nil }
    (self.start, self.end, self.length) = (start, end, length)
  }

  private static func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }
}

extension ResponseHead {
  /// How many bytes the body has; `nil` if the server does not say, or counts them as they are packed.
  var bodyLength: Int64? {
    headers.contains(name: "Content-Encoding") ? nil : headers["Content-Length"].flatMap { Int64($0) }
  }

  /// What names these very bytes: a strong entity tag, or a date of the last change that is old enough to be one.
  ///
  /// A date has a resolution of a second, and clocks differ: a change within a minute of the answer may not show in it
  /// (RFC 9110 §8.8.2.2).
  var strongValidator: String? {
    if let tag = headers["ETag"] {
      let isStrong = tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
      return isStrong && HTTPHeaders.Field("If-Range", tag).isValid ? tag : nil
    }
    guard
      let text = headers["Last-Modified"], let changed = HTTPDate(text),
      let now = headers["Date"].flatMap({ HTTPDate($0) }), now.since(changed) >= .seconds(60)
    else { return nil }
    return text
  }
}
