import Foundation
import StreamSupport

/// An address, which becomes a `URL` once somebody asks for one.
///
/// Foundation takes longer to take an address apart than a client to send a request through all else, and where it is only sent,
/// nobody asks.
final class Address: Sendable {
  let text: String
  private let parsed: Locked<URL?>

  /// - Parameter url: Used as it is.
  init(_ url: URL) {
    text = url.absoluteString
    parsed = Locked(url)
  }

  /// - Parameter valid: An address of which it is known that a URL can be made of it, with the same text.
  init(valid text: String) {
    self.text = text
    parsed = Locked(nil)
  }

  var url: URL {
    if let url = parsed.withLock({ $0 }) { return url }
    guard let url = URL(string: text) else {
      // By whoever has made it with `init(valid:)`.
      preconditionFailure("'\(text)' was said to be the text of a URL")
    }
    parsed.withLock { $0 = url }
    return url
  }
}
