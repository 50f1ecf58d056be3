import Combine
import Foundation
import Observation
import Rebound
import ReboundHTTP
import ReboundTesting
import StreamSupport
import Testing

// What the examples in the doc comments of Rebound take for granted. No target: scripts/check-examples compiles it.

func given<Value>() -> Value {
  // Never run: this is compiled and no more.
  fatalError("an example is no program")
}

struct City: Hashable, Sendable {}

struct Forecast: Codable, Hashable, Sendable {
  enum Status: Codable { case ready, busy }
  static let empty = Forecast()
  var status = Status.ready
}

struct NetworkFailure: Error, Equatable {
  enum Kind { case server, timeout, offline, unauthorised }

  static let busy = NetworkFailure()
  static let timedOut = NetworkFailure()
  static let notFound = NetworkFailure()
  static let unauthorised = NetworkFailure()
  static let loggedOut = NetworkFailure()
  static func busy(_: BulkheadFull) -> NetworkFailure { NetworkFailure() }
  static func timedOut(_: Duration) -> NetworkFailure { NetworkFailure() }
  static func unavailable(until: Duration?) -> NetworkFailure { NetworkFailure() }
  static func unavailable(_: CircuitOpen) -> NetworkFailure { NetworkFailure() }
  static func tooOften(retryAfter: Duration?) -> NetworkFailure { NetworkFailure() }
  static func other(_: any Error) -> NetworkFailure { NetworkFailure() }
  static func gaveUp(after: Int, causes: [any Error]) -> NetworkFailure { NetworkFailure() }

  init() {}
  init(_: TokenRefreshFailure) {}

  var kind: Kind { .server }
  var status: Int { 0 }
  var isTransient: Bool { true }
  var isUnauthorised: Bool { false }
  var needsCredential: Bool { false }
}

struct Reading: Sendable {}

struct Thermometer: Sendable {
  func watch(_: @escaping @Sendable (Reading) -> Void) -> AnyCancellable { AnyCancellable {} }
}

let thermometer = Thermometer()

struct Token: Sendable {
  var refreshToken = ""
  var expiresIn: Duration? { nil }
}

struct Client: Sendable {
  func forecast(for _: City) -> AnyPublisher<Forecast, NetworkFailure> { Empty().eraseToAnyPublisher() }
  func forecast(for _: City) async throws(NetworkFailure) -> Forecast { .empty }
  func forecast(for _: City, token: Token) async throws -> Forecast { .empty }
  func forecast(for _: City, from mirror: String) -> AnyPublisher<Forecast, NetworkFailure> {
    Empty().eraseToAnyPublisher()
  }
  func forecast(for _: City, from mirror: String) async throws(NetworkFailure) -> Forecast { .empty }
  func forecasts(for _: City) -> AsyncThrowingStream<Forecast, any Error> { AsyncThrowingStream { _ in } }
  func publisher(for _: URLRequest, token: Token) -> AnyPublisher<Forecast, NetworkFailure> {
    Empty().eraseToAnyPublisher()
  }
  func status() -> AnyPublisher<Forecast, NetworkFailure> { Empty().eraseToAnyPublisher() }
  func search(_: String) async throws -> [String] { [] }
  func send(_: URLRequest) async throws -> Forecast { .empty }
  func token(for key: String) async throws(NetworkFailure) -> Token { Token() }
  func renew(_: Token?) async -> RefreshOutcome<Token> { .refreshed(Token()) }
  func isAvailable(_: String) -> AnyPublisher<Bool, NetworkFailure> { Empty().eraseToAnyPublisher() }
}

struct Log: Sendable {
  func notice(_: String) {}
  func info(_: String) {}
  @Sendable func write<Entry>(_: Entry) {}
}

struct Screen: Sendable {
  init(_: Forecast, isSavedCopy: Bool, age: Duration) {}
  init(_: Forecast, note: String?) {}
}

extension Duration {
  var minutes: Int { 0 }
}

let city = City()
let client = Client()
let mirror = Client()
let archive = Client()
let api = Client()
let service = Client()
let mirrors = ["one", "other"]
let log = Log()
let text = ""
let path = ""
let host = ""
let key = ""
let token = Token()
var request: AnyPublisher<Forecast, NetworkFailure> { client.forecast(for: city) }
var forecast: AnyPublisher<Forecast, NetworkFailure> { request }
var poll: AnyPublisher<Forecast, NetworkFailure> { request }
var search: AnyPublisher<Forecast, NetworkFailure> { request }
var username: AnyPublisher<String, Never> { Empty().eraseToAnyPublisher() }
var subscriptions: Set<AnyCancellable> {
  get { [] }
  set {}
}
var recorder: Recorder<Forecast, NetworkFailure> { Recorder() }
var breaker: CircuitBreaker { given() }
var budget: RetryBudget { given() }
var events: PolicyEvents { PolicyEvents() }
var queue: DispatchQueue { .main }
var scheduler: TestScheduler { TestScheduler() }
var file: URL { URL(fileURLWithPath: "") }
var policy: RetryPolicy<NetworkFailure> { .standard }
var weather: Pipeline<Forecast> { given() }
func show<Value>(_: Value) {}
func load(_: String, from host: String) async throws -> Data { Data() }

// MARK: What only the examples of one file take for granted

typealias Plain = AnyPublisher<Forecast, any Error>

struct Settings: Sendable {
  var isChaosOn: Bool { true }
  var faultRate: Double { 0 }
}

struct Session: Sendable {
  struct Expired: Error {}
  var refresh: Empty<Void, NetworkFailure> { Empty() }
  func refresh(_: Expired) -> Empty<Void, NetworkFailure> { Empty() }
}

typealias SessionExpired = Session.Expired

struct Order: Codable, Sendable {}

struct Keychain: Sendable {
  func token() async throws -> Token? { nil }
  func save(_: Token?) async throws {}
}

struct LockFile: Sendable {
  func withLock<Result>(_ body: () async -> Result) async -> Result { await body() }
}

final class Throttle: Sendable {
  struct Reading: PolicyReading {
    var measurements: [PolicyMeasurement] { [] }
    var description: String { "" }
  }
  var snapshot: Reading { Reading() }
  func onEvent(_: @escaping @Sendable (ThrottleDecision) -> Void) {}
}

enum ThrottleDecision: PolicyDecision {
  case slowedDown
  static let kind = PolicyKind("throttle")
  var severity: PolicyEvent.Severity { .warning }
  var word: String { "" }
  var description: String { "" }
}

let throttle = Throttle()

enum AdaptiveThrottleExamples {
  static var request: Plain { given() }
  static var policy: RetryPolicy<any Error> { given() }
}

enum BulkheadExamples {
  static var request: Plain { given() }
}

enum Publisher_limitedExamples {
  static var bulkhead: Bulkhead { given() }
}

enum CacheExamples {
  static var forecasts: Cache<City, Forecast, any Error> { given() }
  static func showSavedCopy(_: Duration) {}
}

enum Publisher_cachedExamples {
  static var forecasts: Cache<City, Forecast, NetworkFailure> { given() }
}

enum ChaosExamples {
  static let settings = Settings()
}

enum InjectionRateExamples {
  // Example: _ = Chaos<Forecast, NetworkFailure>()%
  static let settings = Settings()
}

enum Publisher_chaosExamples {
  static var chaos: Chaos<Forecast, NetworkFailure> { given() }
}

enum CircuitBreakerExamples {
  static var request: Plain { given() }
  static var policy: CircuitBreakerPolicy { given() }
}

enum CoalescerExamples {
  static var forecasts: Coalescer<City, Forecast, any Error> { given() }
}

enum Publisher_coalescedExamples {
  static var forecasts: Coalescer<City, Forecast, NetworkFailure> { given() }
}

enum CircuitBreakerPolicyExamples {
  // Example: accept(%)
  static func accept(_: CircuitBreakerPolicy) {}
}

enum InvalidPolicyExamples {
  static let limit = 1
}

enum FallbackPolicy_runExamples {
  static var policy: FallbackPolicy<NetworkFailure> { given() }
}

enum LastGoodExamples {}

enum Publisher_lastGoodExamples {
  static var forecasts: LastGood<City, Forecast> { given() }
}

struct MirroredClient: Sendable {
  func forecast(for _: City, from mirror: String) async throws(NetworkFailure) -> Forecast { .empty }
}

enum HedgePolicyExamples {
  static let client = MirroredClient()
}

enum HedgePolicy_runExamples {
  static let client = MirroredClient()
  static var policy: HedgePolicy<NetworkFailure> { given() }
}

enum Publisher_hedgedExamples {
  static var policy: HedgePolicy<NetworkFailure> { given() }
}

enum KeyedExamples {
  static var policy: CircuitBreakerPolicy { given() }
}

enum ObservableValueExamples {
  static var temperatures: AnyPublisher<Int, Never> { given() }
}

enum ObservedExamples {
  // Examples: @MainActor func body() {%}
  static var model: Model { given() }
  @Observable final class Model: @unchecked Sendable {
    // Only read under the lock, or on the main actor.
    var userName = ""
    var count = 0
  }
  static let lock = NSLock()
}

enum Keyed_pipelinesExamples {
  static var breakers: Keyed<String, CircuitBreaker> { given() }
}

enum AuthenticationExamples {
  // Examples: _ = try Pipeline<Forecast>("example") {%}
  static var session: TokenRefresher<Token> { given() }
}

enum CacheFirstExamples {
  // Examples: _ = try Pipeline<Forecast>("example") {%}
  static var forecasts: Cache<City, Forecast, any Error> { given() }
}

enum FallbackExamples {
  // Examples: _ = try Pipeline<Forecast>("example") {%}
  static var forecasts: LastGood<City, Forecast> { given() }
}

enum SingleFlightExamples {
  // Examples: _ = try Pipeline<Forecast>("example") {%}
  static var forecasts: Coalescer<City, Forecast, any Error> { given() }
}

enum RetryExamples {
  static var policy: CircuitBreakerPolicy { given() }
}

enum TimeoutExamples {
  // Examples: _ = try Pipeline<Forecast>("example") {%}
}

enum RateLimiterExamples {
  static var request: Plain { given() }
}

enum Publisher_rateLimitedExamples {
  static var limiter: RateLimiter { given() }
}

enum CheckpointExamples {
  static var request: AnyPublisher<Data, any Error> { given() }
}

enum MaterializeExamples {
  // Examples: class Model { @Published var isAvailable = false; @Published var message = ""; func body() {%} }
}

enum RecoverExamples {
  static var notifications: AnyPublisher<Forecast, NetworkFailure> { given() }
}

enum RetryOnExamples {
  static let session = Session()
  static let prompt = Prompt()
  struct Prompt: Sendable {
    var credential: Empty<Void, NetworkFailure> { Empty() }
  }
}

enum RetryWhenExamples {
  static let connectivity = Connectivity()
  struct Connectivity: Sendable {
    var restored: AnyPublisher<Void, Never> { given() }
  }
}

enum BackoffExamples {
  // Example: accept(%)
  static func accept(_: Backoff) {}
}

enum RetryDecisionExamples {
  // Example: accept(%)
  static func accept(_: RetryDecision<NetworkFailure>) {}
  static let otherError = NetworkFailure()
}

enum TimeoutPolicyExamples {
  // Example: accept(%)
  static func accept(_: TimeoutPolicy) {}
}

enum DeadlineExamples {
  struct Request: Sendable { var timeout: Duration }
  struct Client: Sendable {
    func send(_: Request) async throws -> Forecast { .empty }
  }
  static let client = Client()
  static var request: Request {
    get { given() }
    set {}
  }
}

enum CredentialStoreExamples {
  static let keychain = Keychain()
  static let file = LockFile()
}

enum Publisher_authenticatedExamples {
  static var session: TokenRefresher<Token> { given() }
  static var request: URLRequest { given() }
}

enum TokenRefresherExamples {
  static var request: URLRequest { given() }
  static var session: TokenRefresher<Token> { given() }
}

enum InMemoryCacheStorageExamples {
  static var policy: CachePolicy { given() }
}

struct Receipt: Sendable {}

struct Till: Sendable {
  func place(_: Order) async throws -> Receipt { given() }
  func place(_: Order) -> AnyPublisher<Receipt, any Error> { given() }
}

struct PurchaseRequest {
  var idempotencyKey: String { given() }
}

enum IdempotencyKeysExamples {
  static let shop = Till()
  static let order = Order()
  static var request: PurchaseRequest { given() }
}

enum Publisher_idempotentExamples {
  static let shop = Till()
  static let order = Order()
  static var orders: IdempotencyKeys<Receipt> { given() }
  static var request: PurchaseRequest { given() }
}
