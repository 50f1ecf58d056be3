import Foundation
import Rebound

/// What redirects have to do with the answer that they led to: the next time they may lead elsewhere.
///
/// A reference, so that an answer without any is but a word longer for it.
final class RedirectChain: Sendable {
  /// How long one is good that says nothing about an end (RFC 9110 §15.4.2, §15.4.9): as long as anything is.
  private static let longest = Duration.seconds(1 << 31)

  /// Where they led, one after the other.
  let way: [URL]
  /// How long from the beginning of the attempt they lead there; `nil` if one of them must not be kept at all.
  let lifetime: Duration?
  /// The names of the request's fields that it depends on where they lead.
  let vary: [String]
  /// Whether a server has done what it was asked for, and has led on to what came of it: sent once more, it is done twice.
  let hasServerActed: Bool
  /// Where the last of them has come from and leads with what is not safe, and what it names as changed.
  let written: [URL]

  /// Adds a redirect to those before.
  ///
  /// - Parameters:
  ///   - redirect: The answer that wants the request elsewhere.
  ///   - sent: What it answers.
  ///   - next: What follows from it.
  ///   - earlier: Those before it in the same attempt.
  init(_ redirect: HTTPResponse, to sent: TransportRequest, next: TransportRequest, after earlier: RedirectChain?) {
    let control = CacheControl(redirect.head.headers)
    way = (earlier?.way ?? []) + [next.url]
    // As a 303 says (RFC 9110 §15.4.4); a 301 or 302 that makes a GET of a POST is taken for one.
    hasServerActed = earlier?.hasServerActed ?? false || redirect.status == 303 || next.method != sent.method
    var written: [URL] = []
    if !sent.method.isSafe { written += [sent.url] + redirect.head.changedAddresses(at: sent.url) }
    if !next.method.isSafe { written.append(next.url) }
    self.written = written
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

extension RedirectChain {
  /// Where the last of them led.
  var end: URL? { way.last }
}

extension ResponseHead {
  /// The addresses that the answer to a request that was not safe names as changed (RFC 9111 §4.4).
  ///
  /// A server has no say about another origin, be it a port of the same host.
  ///
  /// - Parameter url: Where it was sent.
  func changedAddresses(at url: URL) -> [URL] {
    ["Location", "Content-Location"].flatMap { headers.values(of: $0) }
      .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }
      .filter { Origin($0) == Origin(url) }
  }
}

/// Shows nothing: an address that a redirect leads to may be signed.
extension RedirectChain: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}
