import Foundation
import Rebound

/// What redirects have to do with the answer that they led to: the next time they may lead elsewhere.
///
/// A reference, so that an answer without any is but a word longer for it.
final class RedirectChain: Sendable {
  /// How long one is good that says nothing about an end (RFC 9110 §15.4.2, §15.4.9): as long as anything is.
  private static let longest = Duration.seconds(1 << 31)

  /// Where they led.
  let end: URL
  /// How long from the beginning of the attempt they lead there; `nil` if one of them must not be kept at all.
  let lifetime: Duration?
  /// The names of the request's fields that it depends on where they lead.
  let vary: [String]

  /// Adds a redirect to those before.
  ///
  /// - Parameters:
  ///   - redirect: The answer that wants the request elsewhere.
  ///   - end: Where it leads.
  ///   - earlier: Those before it in the same attempt.
  init(_ redirect: HTTPResponse, to end: URL, after earlier: RedirectChain?) {
    let control = CacheControl(redirect.head.headers)
    self.end = end
    vary = (earlier?.vary ?? []) + redirect.head.headers.members(of: "Vary")
    guard !control.has("no-store"), let rest = earlier.map(\.lifetime) ?? RedirectChain.longest else {
      lifetime = nil
      return
    }
    let unsaid = [301, 308].contains(redirect.status) ? RedirectChain.longest : .zero
    let said = control.has("no-cache") ? .zero : CachedCopy.statedLifetime(redirect, control)
    lifetime = min(max((said ?? unsaid) - CachedCopy.statedAge(redirect), .zero), rest)
  }
}

/// Shows nothing: an address that a redirect leads to may be signed.
extension RedirectChain: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}
