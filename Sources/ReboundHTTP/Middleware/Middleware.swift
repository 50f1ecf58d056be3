import Combine

/// The answer to one request, on its way back through the middleware.
public typealias HTTPExchange = AnyPublisher<HTTPResponse, NetworkFailure>

/// Stands between a client and its transport: changes requests, answers in their place, tries again.
///
///     struct UserAgent: Middleware {
///       func exchange(_ request: HTTPRequest, next: @escaping (HTTPRequest) -> HTTPExchange) -> HTTPExchange {
///         var request = request
///         request.message.headers["User-Agent"] = "Example/1.0"
///         return next(request)
///       }
///     }
///
/// Whatever order middleware is given in, the client puts it in the order of its places, since most other orders make
/// one of them useless: see ``MiddlewarePlace``.
public protocol Middleware: Sendable {
  /// Where it stands; ``MiddlewarePlace/adaptation`` by default.
  var place: MiddlewarePlace { get }
  /// What it is called in a description of the client; the name of its type by default.
  var name: String { get }

  /// Answers a request.
  ///
  /// Called once for each subscription that reaches it. State of one execution is made here; nothing is sent before the
  /// result is subscribed to.
  ///
  /// - Parameters:
  ///   - request: As the middleware outside has left it.
  ///   - next: Passes a request on, to the middleware inside or to the network; may be called any number of times.
  func exchange(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPExchange) -> HTTPExchange
}

extension Middleware {
  /// Right outside the network.
  public var place: MiddlewarePlace { .adaptation }
  /// The name of the type.
  public var name: String { "\(Self.self)" }
}

/// Where middleware stands, from the outside in.
///
/// A copy that is still good spares all else, so the cache is outside; it also answers when all else has failed. Joined
/// requests share the retries, and all of it the deadline. Each retry gets the credential of the moment, and a refused
/// credential is renewed before the retry policy hears of it. The breaker sees each attempt as the network has it.
public enum MiddlewarePlace: Int, CaseIterable, Comparable, Sendable {
  /// Answers when all else fails.
  case fallback
  /// Answers from copies.
  case cache
  /// Lets a request join another that is under way.
  case coalescing
  /// Limits the time of all attempts and waits together.
  case deadline
  /// Tries again.
  case retry
  /// Adds the user's credential, and renews it.
  case authentication
  /// Refuses while the service fails.
  case protection
  /// Adds what servers have asked to be told again: right inside of where redirects are followed, so for each request that
  /// one makes, and before anything is signed.
  case cookies
  /// Changes each attempt right before it is sent, and each request that a redirect makes of it.
  ///
  /// Redirects are followed right outside, and the time that is left is told there: what signs a request here signs what
  /// goes over the wire. What adds a credential here heeds ``HTTPRequest/hasLeftOrigin``.
  case adaptation

  /// Whether one place is outside another.
  public static func < (left: MiddlewarePlace, right: MiddlewarePlace) -> Bool { left.rawValue < right.rawValue }
}
