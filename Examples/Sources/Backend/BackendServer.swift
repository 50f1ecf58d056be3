import Foundation
import WebServer

/// The service behind the sign-up form: checks user names, keeps accounts, and fails on command.
///
///     let backend = try BackendServer(.init(port: 0, database: ":memory:") { print($0) })
///     // GET  \(backend.url)/isUserNameAvailable?userName=…
///     // POST \(backend.url)/signUp                {"userName":…,"password":…}
///     // GET  \(backend.url)/health
///     // GET, POST, DELETE \(backend.url)/control/faults
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
    /// The time since some fixed moment, for the list of requests.
    public var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    /// Is told of every failure of the service itself; clients learn no more than that it failed.
    public var report: @Sendable (String) -> Void

    /// Makes a configuration with the defaults.
    public init(port: UInt16 = 0, database: String, report: @escaping @Sendable (String) -> Void) {
      self.server = HTTPServer.Configuration(port: port)
      self.server.bodyLimit = 64 << 10
      self.database = database
      self.report = report
    }
  }

  private let server: HTTPServer

  /// Opens the accounts and starts the server.
  ///
  /// - Throws: `HTTPServerError`, ``DatabaseError``, or an error of libsodium; each describes itself for people.
  public init(_ configuration: Configuration) throws {
    let service = SignUpService(
      store: try AccountStore(path: configuration.database),
      hasher: try PasswordHasher(cost: configuration.passwordCost),
      retryAfter: configuration.maintenanceRetryAfter
    )
    let control = ControlService(service: service, now: configuration.now)
    let report = configuration.report
    var router = Router { error, request in report("\(request.method.rawValue) \(request.path): \(error)") }
    router.on(.get, "/health") { _ in try .json(["status": "ok"]) }
    router.on(.get, "/isUserNameAvailable") { try await service.availability($0) }
    router.on(.post, "/signUp") { try await service.signUp($0) }
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
