import Foundation
import Rebound

/// Which redirects a client follows.
public struct RedirectPolicy: Hashable, Sendable {
  /// How many redirects one request may take.
  public let limit: Int
  /// Whether only those that stay with the same scheme, host and port are followed.
  public let staysAtOrigin: Bool
  /// The names of header fields that go along to another origin, in lower case.
  public private(set) var carriedHeaders: Set<String> = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
    "content-language", "content-type", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "pragma", "prefer", "priority", "range", "user-agent",
  ]
  /// Whether a body goes along to another origin; if not, a redirect that wants it there is a failure.
  public private(set) var carriesBodies = false

  private init(limit: Int, staysAtOrigin: Bool) {
    self.limit = max(limit, 0)
    self.staysAtOrigin = staysAtOrigin
  }

  /// The same policy, which takes one more header field along to another origin.
  ///
  /// All others stay behind, but for those that say what is asked for, under which condition and in which form: nobody knows
  /// which of them is a credential, or tells a stranger who has asked. So do `X-Request-ID` and what ``Tracing`` adds. The
  /// `Idempotency-Key` goes along: without it, what is sent again would be done again.
  public func carrying(header name: String) -> RedirectPolicy {
    changed(self) { $0.carriedHeaders.insert(name.lowercased()) }
  }

  /// The same policy, which also takes a body along to another origin.
  ///
  /// A 307 or 308 wants the request sent again as it is (RFC 9110 §15.4.8, §15.4.9), with an order or a document in it
  /// that was meant for the first server. Unless that is allowed, such a redirect is a
  /// ``NetworkFailure/Kind-swift.enum/redirectRefused``.
  public func carryingBodies() -> RedirectPolicy {
    changed(self) { $0.carriesBodies = true }
  }

  /// None: a redirect is ``NetworkFailure/Kind-swift.enum/unexpectedStatus(_:)``.
  public static let none = RedirectPolicy(limit: 0, staysAtOrigin: false)

  /// Follows redirects, ten at most unless told otherwise.
  public static func follow(limit: Int = 10) -> RedirectPolicy { RedirectPolicy(limit: limit, staysAtOrigin: false) }

  /// Follows redirects that stay with the same scheme, host and port.
  public static func sameOrigin(limit: Int = 10) -> RedirectPolicy { RedirectPolicy(limit: limit, staysAtOrigin: true) }

  /// Whether an answer may be a redirect that is followed: what can be known without its fields.
  func concerns(status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: limit > 0
    default: false
    }
  }

  enum Step: Sendable {
    /// The answer is none that is followed.
    case deliver
    case follow(TransportRequest)
    case tooMany
    /// It would take a body where the caller has not allowed it to go.
    case refuse(RedirectRefused)
  }

  /// Whether a field of a request says something of its body, and goes where that goes (RFC 9110 §15.4).
  private static func speaksOfBody(_ name: String) -> Bool {
    HTTPHeaders.begins(name, with: "Content-")
      || ["Digest", "Repr-Digest", "Last-Modified"].contains { HTTPHeaders.equal($0, name) }
  }

  /// Whether a field is a condition, which is one of the resource that was asked for first (RFC 9110 §13.1).
  private static func isCondition(_ name: String) -> Bool {
    ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"].contains { HTTPHeaders.equal($0, name) }
  }

  /// What to do with an answer.
  ///
  /// A 303 becomes GET, and so does POST after 301 and 302, as browsers do (Fetch Standard, "HTTP-redirect fetch"), without
  /// the body, the fields that speak of it, and the conditions of a write that has been done. No
  /// redirect leads from `https` to `http`, and none takes a body or fields to another origin that were not said to be
  /// safe there. Of several Location fields that differ, none is followed.
  ///
  /// - Parameters:
  ///   - message: What was sent.
  ///   - head: What came back.
  ///   - followed: How many redirects were followed before.
  func step(after message: TransportRequest, _ head: ResponseHead, followed: Int) -> Step {
    guard
      concerns(status: head.status),
      case let locations = Set(head.headers.values(of: "Location")), locations.count == 1,
      let location = locations.first,
      let url = URL(string: location, relativeTo: message.url)?.absoluteURL,
      let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), url.host?.isEmpty == false,
      scheme == "https" || message.url.scheme?.lowercased() == "http"
    else { return .deliver }
    let isSameOrigin = Origin(url) == Origin(message.url)
    if staysAtOrigin, !isSameOrigin { return .deliver }
    guard followed < limit else { return .tooMany }

    var next = message
    next.url = url
    let becomesGet =
      (head.status == 303 && message.method != .head)
      || ([301, 302].contains(head.status) && message.method == .post)
    if becomesGet {
      let isWrite = !message.method.isSafe
      next.method = .get
      next.body = .none
      // It reads what has come of the other.
      if isWrite { next.isNotIdempotent = false }
      next.headers = HTTPHeaders(
        next.headers.filter {
          !RedirectPolicy.speaksOfBody($0.name) && !(isWrite && RedirectPolicy.isCondition($0.name))
        }
      )
    } else if !message.body.isReplayable {
      return .deliver
    }
    if !isSameOrigin {
      guard carriesBodies || next.body.length == 0 else { return .refuse(RedirectRefused(head.status, to: url)) }
      next.headers = HTTPHeaders(next.headers.filter { carriedHeaders.contains($0.name.lowercased()) })
    }
    return .follow(next)
  }
}

/// A redirect that was not followed, since it would take the body of a request to another origin.
public struct RedirectRefused: Error, Hashable, Sendable, CustomStringConvertible {
  /// The status of the answer.
  public let status: Int
  /// The scheme, host and port that it leads to.
  public let origin: String

  /// - Parameters:
  ///   - status: The status of the answer.
  ///   - url: Where it leads; of which a path and a query may hold what nobody is to read.
  init(_ status: Int, to url: URL) {
    self.status = status
    let port = url.port.map { ":\($0)" } ?? ""
    origin = "\(url.scheme ?? "")://\(url.host ?? "")\(port)"
  }

  /// What happened, and what to do about it.
  public var description: String {
    """
    the redirect leads to \(origin), and would take the request's body there. If that host may have it, call it \
    directly, or allow it with RedirectPolicy.carryingBodies()
    """
  }
}

extension RedirectRefused: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.redirectRefused).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.redirectRefused).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.redirectRefused).recoverySuggestion }
}
