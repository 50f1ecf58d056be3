import Foundation
import WebServer

/// The services behind the three apps: user names and accounts, the weather, animals.
///
/// They fail on command.
///
///     let backend = try BackendServer(.init(port: 0, database: ":memory:") { print($0) })
///     // GET  \(backend.url)/isUserNameAvailable?userName=…
///     // POST \(backend.url)/signUp                {"userName":…,"password":…}
///     // POST \(backend.url)/token                 X-API-Key: rebound
///     // GET  \(backend.url)/weather?city=…         Authorization: Bearer …
///     // GET  \(backend.url)/animals/random
///     // PUT  \(backend.url)/ledger/…              signed
///     // GET  \(backend.url)/health
///     // GET, POST, DELETE \(backend.url)/control/faults
///     // GET, DELETE \(backend.url)/control/tokens, POST \(backend.url)/control/key
///     // GET, POST \(backend.url)/control/animals
///     // POST \(backend.url)/control/reset
///     // GET  \(backend.url)/control/requests
///     await backend.stop()
public final class BackendServer: Sendable {
  /// How a backend is set up.
  public struct Configuration: Sendable {
    /// The web server's part: port, allowed origins, time.
    public var server: HTTPServer.Configuration
    /// The file of the accounts, created with its folder where it doesn't exist; or `:memory:`.
    public var database: String
    /// How much work a password hash takes.
    public var passwordCost = PasswordCost.interactive
    /// What `Retry-After` says during maintenance, in seconds.
    public var maintenanceRetryAfter = 2
    /// How long an access token of the weather service is good for.
    public var tokenLifetime = Duration.seconds(60)
    /// From what the delays and failures of the animals are drawn.
    public var animalSeed: UInt64 = 1
    /// The time of day, which makes the weather.
    public var date: @Sendable () -> Date = { Date() }
    /// The time since some fixed moment, for the list of requests and the life of tokens.
    public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    /// Is told of every failure of the service itself; clients learn no more than that it failed.
    public var report: @Sendable (String) -> Void

    /// Makes a configuration with the defaults.
    public init(port: UInt16 = 0, database: String, report: @escaping @Sendable (String) -> Void) {
      self.server = HTTPServer.Configuration(port: port)
      self.server.bodyLimit = 64 << 10
      // Of a connection that has answered before and then ends without an answer, a client tells nobody: it sends the
      // request again by itself. On connections that are used once, what is dropped fails, as often as was asked for.
      self.server.defaultHeaders["Connection"] = "close"
      self.database = database
      self.report = report
    }
  }

  private let server: HTTPServer

  /// Opens the accounts and starts the server.
  ///
  /// - Throws: `HTTPServerError`, ``DatabaseError``, or an error of libsodium; each describes itself for people.
  public convenience init(_ configuration: Configuration) throws {
    try self.init(configuration, hashQueue: SignUpService.makeHashQueue())
  }

  /// Starts a server that hashes passwords on a queue; see ``init(_:)``.
  init(_ configuration: Configuration, hashQueue: WorkQueue) throws {
    let service = SignUpService(
      store: try AccountStore(path: configuration.database),
      hasher: try PasswordHasher(cost: configuration.passwordCost),
      retryAfter: configuration.maintenanceRetryAfter,
      hashQueue: hashQueue
    )
    let weather = WeatherService(
      lifetime: configuration.tokenLifetime,
      now: configuration.now,
      date: configuration.date
    )
    let animals = AnimalService(.init(seed: configuration.animalSeed))
    let ledger = LedgerService(date: configuration.date)
    let control = ControlService(now: configuration.now) {
      service.resetMaintenance()
      weather.reset()
      animals.reset()
    }
    let report = configuration.report
    var router = Router { error, request in report("\(request.method.rawValue) \(request.path): \(error)") }
    router.on(.get, "/health") { _ in try .json(["status": "ok"]) }
    router.on(.get, "/isUserNameAvailable") { try await service.availability($0) }
    router.on(.post, "/signUp") { try await service.signUp($0) }
    weather.addRoutes(to: &router)
    animals.addRoutes(to: &router)
    ledger.addRoutes(to: &router)
    control.addRoutes(to: &router)
    server = try HTTPServer(configuration.server) { [router] in
      await control.respond(to: $0) { await router.respond(to: $0) }
    }
  }

  /// The port on which the backend listens.
  public var port: UInt16 { server.port }

  /// The backend's address, without a slash at its end.
  public var url: String { server.url }

  /// Stops the backend; see `HTTPServer.stop(within:)`.
  public func stop(within deadline: Duration = .seconds(5)) async {
    await server.stop(within: deadline)
  }
}
