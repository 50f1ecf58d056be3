import Foundation

/// Which redirects a client follows.
public struct RedirectPolicy: Hashable, Sendable {
  /// How many redirects one request may take.
  public let limit: Int
  /// Whether only those that stay with the same scheme, host and port are followed.
  public let staysAtOrigin: Bool

  private init(limit: Int, staysAtOrigin: Bool) {
    self.limit = max(limit, 0)
    self.staysAtOrigin = staysAtOrigin
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
  }

  /// What to do with an answer.
  ///
  /// A 303 becomes GET, and so does POST after 301 and 302, as browsers do (Fetch Standard, "HTTP-redirect fetch"). No
  /// redirect leads from `https` to `http`, and none takes credentials to another origin.
  ///
  /// - Parameters:
  ///   - message: What was sent.
  ///   - head: What came back.
  ///   - followed: How many redirects were followed before.
  ///   - redaction: Knows which fields are credentials.
  func step(
    after message: TransportRequest,
    _ head: ResponseHead,
    followed: Int,
    redaction: Redaction
  ) -> Step {
    guard
      concerns(status: head.status),
      let location = head.headers["Location"],
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
      next.method = .get
      next.body = .none
      next.headers["Content-Type"] = nil
    } else if !message.body.isReplayable {
      return .deliver
    }
    if !isSameOrigin { next.headers = HTTPHeaders(next.headers.filter { !redaction.hides(header: $0.name) }) }
    return .follow(next)
  }
}
