import Foundation
import StreamSupport

/// An address, which becomes a `URL` once somebody asks for one.
///
/// Foundation takes longer to take an address apart than a client to send a request through all else, and where it is only sent,
/// nobody asks.
enum Address: Sendable {
  /// Used as it is.
  case url(URL)
  case text(AddressText)

  init(_ url: URL) { self = .url(url) }

  /// - Parameters:
  ///   - valid: An address of which it is known that a URL can be made of it, with the same text.
  ///   - root: What it begins with, if that is known; nothing behind that is a fragment.
  init(valid text: String, below root: AddressRoot? = nil) { self = .text(AddressText(text, below: root)) }

  var text: String {
    switch self {
    case .url(let url): url.absoluteString
    case .text(let text): text.text
    }
  }

  var url: URL {
    switch self {
    case .url(let url): url
    case .text(let text): text.url
    }
  }

  /// What it is below, if that is known.
  private var root: AddressRoot? {
    if case .text(let text) = self { text.root } else { nil }
  }

  var authority: Authority { root?.authority ?? Authority(self) }
  /// Host and port as one text, the host in lower case: "example.com:8080".
  var authorityText: String { root?.authorityText ?? Authority.text(self) }
  /// The scheme in lower case.
  var scheme: String? { root?.scheme ?? plainScheme }
  /// What is asked for, as one text, however it is spelt (RFC 9110 §4.2.3).
  ///
  /// Scheme and host in lower case, without the port that the scheme has anyway and without a fragment, which is not sent.
  var canonical: String { root?.isCanonical ?? false ? text : spelledCanonically }
  /// How many bytes come before the path; `nil` if there is no path, or more than an origin before it or a fragment behind it.
  var originCount: Int? { root.map(\.originCount) ?? plainOriginCount }

  /// What comes before the path, as it is written.
  var origin: String? { originCount.map { String(decoding: text.utf8.prefix($0), as: UTF8.self) } }

  /// Whether that is what comes before the path, letter by letter.
  func hasOrigin(_ origin: String) -> Bool {
    // Of ASCII, as all addresses are, so that this compares memory.
    originCount == origin.utf8.count && text.hasPrefix(origin)
  }

  private var plainScheme: String? {
    // Nearly all have one of these. Of ASCII, so that this compares memory.
    if text.hasPrefix("https://") { return "https" }
    if text.hasPrefix("http://") { return "http" }
    return url.scheme?.lowercased()
  }

  private var plainOriginCount: Int? {
    // By its bytes in memory: an iterator of a text decides anew at each byte how the text is kept.
    let count = text.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
      guard let start = Authority.start(in: bytes),
        let end = bytes[start...].firstIndex(where: Address.isEndOfHost), bytes[end] == UInt8(ascii: "/"),
        !bytes[end...].contains(UInt8(ascii: "#"))
      else { return nil }
      return end
    }
    return count ?? nil
  }

  private static func isEndOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"): true
    default: false
    }
  }
}

/// The text of an address, and the URL of it once somebody has asked for that.
final class AddressText: Sendable {
  let text: String
  let root: AddressRoot?
  private let parsed = Locked<URL?>(nil)

  fileprivate init(_ text: String, below root: AddressRoot?) {
    (self.text, self.root) = (text, root)
  }

  var url: URL {
    if let url = parsed.withLock({ $0 }) { return url }
    guard let url = URL(string: text) else {
      // By whoever has made it with `init(valid:below:)`.
      preconditionFailure("'\(text)' was said to be the text of a URL")
    }
    parsed.withLock { $0 = url }
    return url
  }
}

/// What all addresses have in common that are below the same one: found out once.
final class AddressRoot: Sendable {
  let authority: Authority
  let authorityText: String
  let scheme: String?
  let isCanonical: Bool
  let originCount: Int?

  /// - Parameter address: With a slash at its end.
  init(_ address: Address) {
    authority = address.authority
    authorityText = address.authorityText
    scheme = address.scheme
    isCanonical = address.canonical == address.text
    originCount = address.originCount
  }
}
