import Combine

/// The answer to one request, on its way back through the middleware.
public typealias HTTPAnswer = AnyPublisher<HTTPResponse, NetworkFailure>

/// Stands between a client and its transport: changes requests, answers in their place, tries again.
///
///     struct UserAgent: HTTPMiddleware {
///       func answer(_ request: HTTPRequest, next: @escaping (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
///         var request = request
///         request.message.headers["User-Agent"] = "Example/1.0"
///         return next(request)
///       }
///     }
///
/// Whatever order middleware is given in, the client puts it in the order of its places, since most other orders make
/// one of them useless: see ``MiddlewarePlace``.
public protocol HTTPMiddleware: Sendable {
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
  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer
}

extension HTTPMiddleware {
  /// Inside of all but what signs.
  public var place: MiddlewarePlace { .adaptation }
  /// The name of the type.
  public var name: String { "\(Self.self)" }
}

/// Where middleware stands, from the outside in.
///
/// A copy that is still good spares all else, so the cache is outside; it also answers when all else has failed. Joined
/// requests share the retries, and the time limit that each of them has itself; the deadline that one runs under ends its
/// own wait alone. The wait for a network takes none of the retries, and a hedge is of one attempt, so that neither multiplies
/// them. Each attempt gets the credential of the moment, and a refused credential is renewed before the retry policy hears of
/// it. The breaker and the rate limiter see each attempt as the network has it. What signs is inside of all that changes a
/// request.
///
/// Three places have something in them that is part of every client: ``deadline``, ``redirects`` and
/// ``deadlineHeader``. The description of a client has it in its order, with all the rest.
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
  /// Waits for a network where there is none.
  case connectivity
  /// Sends a second attempt where the first is slow.
  case hedging
  /// Adds the user's credential, and renews it.
  case authentication
  /// Refuses while the service fails, or is called too often.
  case protection
  /// Follows redirects: the client does, as its ``WebAPIClient/redirects`` say, inside of the middleware that stands here.
  ///
  /// What is outside sees an attempt as one; all places inside see each request that goes over the wire, be it an
  /// attempt's first or one that a redirect makes of it.
  case redirects
  /// Tells the server how much time is left: the client does, in its ``WebAPIClient/deadlineHeader``, outside of the
  /// middleware that stands here.
  case deadlineHeader
  /// Adds what servers have asked to be told again, to each request that goes over the wire.
  case cookies
  /// Changes each request right before it is signed and sent.
  ///
  /// What adds a credential here heeds ``HTTPRequest/hasLeftOrigin``.
  case adaptation
  /// Signs: nothing but the transport comes behind it, so what is signed is what goes over the wire.
  case signing

  /// Whether one place is outside another.
  public static func < (left: MiddlewarePlace, right: MiddlewarePlace) -> Bool { left.rawValue < right.rawValue }
}
