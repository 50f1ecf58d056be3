import Foundation
import Rebound

/// A question to a service, with the type of its answer.
///
///     struct Forecast: Request {
///       let city: String
///       var path: RequestPath { "data/2.5/weather" }
///       var query: Parameters { ["q": city] }
///       typealias Response = Place
///     }
///
///     client.publisher(for: Forecast(city: "São Paulo"))      // AnyPublisher<Place, NetworkFailure>
///
/// All but the path and the type of the answer has a default.
public protocol Request: Sendable {
  /// What the service answers, once it is parsed.
  associatedtype Response: Sendable

  /// The address of the service; `nil`, the default, takes the client's.
  ///
  /// To one of another origin goes nothing that the client adds for its own, such as a credential, unless that is one of its
  /// ``WebAPIClient/trustedOrigins``.
  var baseURL: URL? { get }
  /// Where to ask, below the address of the service.
  var path: RequestPath { get }
  /// What to ask for; `.get` by default.
  var method: HTTPMethod { get }
  /// Header fields that go beyond those of the client; none by default.
  var headers: HTTPHeaders { get }
  /// What goes into the address behind the `?`; nothing by default.
  var query: Parameters { get }
  /// What to send along; nothing by default.
  var body: RequestBody { get }
  /// Makes the response of what comes back; JSON for a type that can be decoded.
  var parser: ResponseParser<Response> { get }
  /// Reads what the service says about an error; ``ErrorParser/standard`` by default.
  var errorParser: ErrorParser { get }
  /// Judges an answer whose status means success, before it is parsed; `nil`, the default, finds each one valid.
  var validator: ResponseValidator? { get }
  /// The status codes that mean success; `200...299` by default.
  ///
  /// Another redirect than the client follows is no success, and 304 is one only to the client's cache.
  var validStatuses: ClosedRange<Int> { get }
  /// How long one attempt may take, and how much may come back; `nil`, the default, takes the client's.
  var limits: TransportLimits? { get }
  /// How long all attempts and waits may take together; `nil`, the default, takes the client's.
  var deadline: Duration? { get }
  /// Whether it may be sent twice; as the method has it by default.
  var idempotency: Idempotency { get }
  /// Whether it is sent with the user's credential, where the client has one for the request's service; so by default.
  var isAuthenticated: Bool { get }
  /// What the client's cache may do for it; what the server allows, by default.
  var cacheMode: CacheMode { get }
  /// How soon its answer is wanted, beside others (RFC 9218); `nil`, the default, says nothing.
  var priority: HTTPPriority? { get }
  /// What it is called in logs and errors; the name of the type by default.
  var operation: String { get }
}

extension Request {
  /// The client's.
  public var baseURL: URL? { nil }
  /// GET.
  public var method: HTTPMethod { .get }
  /// None.
  public var headers: HTTPHeaders { [:] }
  /// None.
  public var query: Parameters { [:] }
  /// Nothing.
  public var body: RequestBody { .none }
  /// Problem details, or the usual members.
  public var errorParser: ErrorParser { .standard }
  /// None.
  public var validator: ResponseValidator? { nil }
  /// From 200 to 299.
  public var validStatuses: ClosedRange<Int> { 200...299 }
  /// The client's.
  public var limits: TransportLimits? { nil }
  /// The client's.
  public var deadline: Duration? { nil }
  /// As the method has it.
  public var idempotency: Idempotency { .byMethod }
  /// Yes.
  public var isAuthenticated: Bool { true }
  /// What the server allows.
  public var cacheMode: CacheMode { .standard }
  /// Says nothing.
  public var priority: HTTPPriority? { nil }
  /// The name of the type.
  public var operation: String { "\(Self.self)" }
}

extension Request where Response: Decodable {
  /// Decodes JSON.
  public var parser: ResponseParser<Response> { .json() }
}

extension Request where Response == Data {
  /// The bytes as they come.
  public var parser: ResponseParser<Data> { .data }
}

extension Request where Response == String {
  /// The text as it comes, in UTF-8.
  public var parser: ResponseParser<String> { .text }
}

extension Request where Response == NoContent {
  /// Whatever comes is passed over.
  public var parser: ResponseParser<NoContent> { .noContent }
}

/// The response of a request whose answer is in its status alone.
public struct NoContent: Hashable, Sendable {
  /// Makes it.
  public init() {}
}

/// What the client's cache may do for a request.
public enum CacheMode: Hashable, Sendable {
  /// What the server allows (RFC 9111).
  case standard
  /// Ask the server before any copy is used; an unchanged one need not come again.
  case revalidate
  /// Neither use a copy nor keep one.
  case bypass
  /// Use any copy, however old, and do not ask the server; without one it is a failure.
  case onlyCached
}
