import Foundation

/// An answer, whole and not parsed yet.
public struct HTTPResponse: Sendable {
  /// Status, header fields, and the address that answered.
  public var head: ResponseHead
  /// The bytes.
  public var body: Data
  /// Where it comes from.
  public var source: ResponseSource
  /// When it came from the network, on the device's clock.
  public var receivedAt: HTTPDate
  /// How long the attempt took that brought it.
  public var duration: Duration
  /// The number of that attempt, from 1.
  public var attempt: Int

  /// Makes an answer.
  ///
  /// - Parameters:
  ///   - head: Status, header fields, and the address that answered.
  ///   - body: The bytes.
  ///   - source: Where it comes from.
  ///   - receivedAt: When it came from the network.
  ///   - duration: How long the attempt took.
  ///   - attempt: The number of the attempt.
  public init(
    head: ResponseHead,
    body: Data = Data(),
    source: ResponseSource = .network,
    receivedAt: HTTPDate,
    duration: Duration = .zero,
    attempt: Int = 1
  ) {
    self.head = head
    self.body = body
    self.source = source
    self.receivedAt = receivedAt
    self.duration = duration
    self.attempt = attempt
  }

  /// The status code.
  public var status: Int { head.status }

  /// The pause that the server asks for, a date measured against the server's own clock.
  public var retryAfter: Duration? {
    RetryAfter.delay(fields: head.headers.values(of: "Retry-After"), date: head.headers["Date"], receivedAt: receivedAt)
  }

  /// What the server calls the request: its X-Request-ID, or a name for the same that is in use.
  public var requestID: String? {
    ["X-Request-ID", "Request-ID", "X-Correlation-ID"].lazy.compactMap { head.headers[$0] }.first
  }

  /// The media type, in lower case and without parameters: "application/json".
  ///
  /// `nil` if there is none, or a longer one than can be registered (RFC 6838 §4.2).
  public var mediaType: String? {
    guard let field = head.headers["Content-Type"] else { return nil }
    let type = trimmed(field.utf8.prefix { $0 != UInt8(ascii: ";") })
    // To compare a text takes time that grows with the square of a run of combining marks.
    return type.count <= HTTPResponse.longestMediaType ? String(decoding: type, as: UTF8.self).lowercased() : nil
  }

  /// 127 characters on either side of the slash.
  private static let longestMediaType = 255

  /// Whether it is a page for a browser, by how it begins.
  ///
  /// The media type alone does not tell: some servers send JSON as text/html.
  var isWebPage: Bool {
    // Most answers begin with a visible character that begins no page, and to trim takes long.
    if let first = body.first, (0x21...0x7E).contains(first), first != UInt8(ascii: "<") { return false }
    let start = String(decoding: body.prefix(256), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines.union(CharacterSet(charactersIn: "\u{FEFF}"))).lowercased()
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") { return true }
    return start.hasPrefix("<") && ["text/html", "application/xhtml+xml"].contains(mediaType)
  }
}

/// Where an answer comes from.
public enum ResponseSource: Hashable, Sendable {
  /// From the server, just now.
  case network
  /// From the client's cache, this long after the server made it, and why.
  case cache(age: Duration, CacheUse)

  /// Whether the copy is older than the server said it may be.
  public var isStale: Bool {
    switch self {
    case .network, .cache(_, .fresh), .cache(_, .revalidated): false
    case .cache: true
    }
  }
}

/// Why the client's cache answered.
public enum CacheUse: Hashable, Sendable {
  /// The copy is still good.
  case fresh
  /// The server said just now that nothing has changed.
  case revalidated
  /// The copy is too old, and is being renewed meanwhile (RFC 5861 §3).
  case staleWhileRevalidating
  /// The copy is too old, but the server or the network fails (RFC 5861 §4).
  case staleIfError
  /// The request takes a copy of any age.
  case onlyCached
}

extension ResponseSource: CustomStringConvertible {
  /// Where it comes from, in words: "the cache (59.0 seconds old, fresh)".
  public var description: String {
    switch self {
    case .network: "the network"
    case .cache(let age, let use): "the cache (\(age) old, \(use))"
    }
  }
}

extension CacheUse: CustomStringConvertible {
  /// Why the cache answered, in words.
  public var description: String {
    switch self {
    case .fresh: "fresh"
    case .revalidated: "not changed"
    case .staleWhileRevalidating: "old, being renewed"
    case .staleIfError: "old, in place of a failure"
    case .onlyCached: "old, as asked for"
    }
  }
}
