import Combine
import Foundation
import Rebound
import StreamSupport

/// Keeps the cookies that servers set, and sends them back (RFC 6265); without it, a client has none.
///
///     let cookies = Cookies()
///     let client = WebAPIClient(baseURL: service, transport: transport, middleware: [cookies])
///
/// Each request of a call has its own: each attempt, and each that a redirect leads to; and each answer is looked at, also a
/// refusal. A request that has a Cookie field of its own keeps that.
///
/// A jar is one user's. A cache of the same client tells users apart by ``WebAPIClient/identifying(_:)`` alone.
public struct Cookies: HTTPMiddleware, RequestAdapter {
  private final class Box: Sendable {
    let jar: Locked<CookieJar>

    init(_ jar: CookieJar) {
      self.jar = Locked(jar)
    }
  }

  private let box: Box

  /// Makes the middleware; all clients that have it share the cookies.
  ///
  /// - Parameter jar: What is there from the start, such as what was kept of an earlier run.
  public init(_ jar: CookieJar = CookieJar()) {
    box = Box(jar)
  }

  /// What is there now.
  public var jar: CookieJar { box.jar.withLock { $0 } }

  /// Puts others in the place of all that are there, such as those that were kept of an earlier run.
  public func replaceAll(with jar: CookieJar) {
    withExtendedLifetime(box.jar.exchange(jar)) {}
  }

  /// Forgets those that end with the session.
  public func endSession() {
    box.jar.withLock { $0.endSession() }
  }

  /// Inside of redirects, outside of signatures.
  public var place: MiddlewarePlace { .cookies }

  func adapt(_ request: inout HTTPRequest) {
    // An empty jar need not know what time it is.
    guard box.jar.withLock({ !$0.isEmpty }), !request.message.headers.contains(name: "Cookie") else { return }
    let (url, now) = (request.message.url, HTTPDate(since1970: request.time.wallClock))
    if let field = box.jar.withLock({ $0.field(for: url, now: now) }) { request.message.headers["Cookie"] = field }
  }

  func look(at head: ResponseHead, of request: HTTPRequest) {
    guard head.headers.contains(name: "Set-Cookie") else { return }
    let now = HTTPDate(since1970: request.time.wallClock)
    box.jar.withLock { $0.store(head.headers, from: request.message.url, now: now) }
  }
}
