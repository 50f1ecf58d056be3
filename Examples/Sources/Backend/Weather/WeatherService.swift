import Foundation
import WebServer

/// Tells the weather, by city and by position, to those who have an access token; and gives tokens for the key.
///
/// All its failures are problem details (RFC 9457).
final class WeatherService: Sendable {
  private struct Grant: Encodable {
    let accessToken: String
    let expiresInSeconds: Int
  }

  private struct Key: Codable {
    let key: String
  }

  private struct TokenReport: Encodable {
    let issued: Int
    let key: String
  }

  private let lifetime: Duration
  private let now: @Sendable () -> ContinuousClock.Instant
  private let date: @Sendable () -> Date
  private let tokens: Locked<AccessTokens>

  /// - Parameters:
  ///   - lifetime: How long an access token is good for.
  ///   - now: Measures it.
  ///   - date: The time of day, which makes the weather.
  init(
    lifetime: Duration,
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    date: @escaping @Sendable () -> Date
  ) {
    self.lifetime = lifetime
    self.now = now
    self.date = date
    tokens = Locked(AccessTokens(lifetime: lifetime))
  }

  func addRoutes(to router: inout Router) {
    router.on(.post, "/token") { [self] request in try answering { try token(request) } }
    router.on(.get, "/weather") { [self] request in try answering { try weather(request) } }
    router.on(.get, "/control/tokens") { [self] _ in try report() }
    router.on(.delete, "/control/tokens") { [self] _ in
      tokens.withLock { $0.expireAll(at: now()) }
      return try report()
    }
    router.on(.post, "/control/key") { [self] request in
      let key = try request.decodeJSON(Key.self).key
      guard !key.isEmpty else { throw HTTPError(400, "The key must not be empty") }
      tokens.withLock { $0.changeKey(to: key, at: now()) }
      return try report()
    }
  }

  /// Gives the first key and no token back its worth.
  func reset() {
    tokens.withLock { $0 = AccessTokens(lifetime: lifetime) }
  }

  /// Answers `POST /token`, which needs the header `X-API-Key`.
  private func token(_ request: Request) throws -> Response {
    let keys = request.headers.values(of: "X-API-Key")
    guard keys.count == 1, let token = tokens.withLock({ $0.issue(for: keys[0], at: now()) }) else {
      throw Problem(
        status: 401,
        title: "Invalid API key",
        detail: keys.isEmpty ? "The header X-API-Key is missing." : "Nobody has this API key.",
        challenge: "ApiKey"
      )
    }
    return try .json(Grant(accessToken: token, expiresInSeconds: Int(lifetime.components.seconds)), status: 201)
  }

  /// Answers `GET /weather?city=NAME` and `GET /weather?latitude=…&longitude=…`.
  private func weather(_ request: Request) throws -> Response {
    try authorise(request)
    let observation = Climate.observe(try city(of: request), at: date())
    var response = try Response.json(observation)
    guard case .data(let body) = response.content else { return response }
    let tag = "\"\(String(stableHash(of: body), radix: 16))\""
    response.headers.add("ETag", tag)
    response.headers.add("Cache-Control", "private, max-age=0")
    if request.headers.values(of: "If-None-Match").contains(tag) {
      response.status = 304
      response.content = .data(Data())
    }
    return response
  }

  private func authorise(_ request: Request) throws(Problem) {
    let scheme = "Bearer "
    guard let credential = request.headers["Authorization"], credential.hasPrefix(scheme) else {
      throw Problem(
        status: 401,
        title: "Access token missing",
        detail: "Get an access token from /token, and send it as Authorization: Bearer.",
        challenge: "Bearer"
      )
    }
    let token = String(credential.dropFirst(scheme.count))
    let verdict = tokens.withLock { $0.judge(token, at: now()) }
    guard verdict != .valid else { return }
    throw Problem(
      status: 401,
      title: verdict == .expired ? "Access token expired" : "Access token unknown",
      detail: "Get a new access token from /token.",
      challenge: #"Bearer error="invalid_token""#
    )
  }

  private func city(of request: Request) throws(Problem) -> City {
    if let name = request.queryValues(of: "city").first ?? nil {
      guard let city = City.named(name) else {
        throw Problem(status: 404, title: "City not found", detail: "There is no weather for '\(name)'.")
      }
      return city
    }
    let latitude = try coordinate("latitude", of: request, within: -90...90)
    let longitude = try coordinate("longitude", of: request, within: -180...180)
    let reach = 500.0
    guard let (city, kilometres) = City.nearest(latitude: latitude, longitude: longitude), kilometres <= reach else {
      throw Problem(
        status: 404,
        title: "City not found",
        detail: "There is no city with known weather within \(Int(reach)) km of this place."
      )
    }
    return city
  }

  private func coordinate(
    _ name: String,
    of request: Request,
    within range: ClosedRange<Double>
  ) throws(Problem) -> Double {
    guard let text = request.queryValues(of: name).first ?? nil, let value = Double(text), range.contains(value) else {
      throw Problem(
        status: 400,
        title: "Place missing",
        detail: "Give a city, or a latitude from -90 to 90 and a longitude from -180 to 180; \(name) is not right."
      )
    }
    return value
  }

  private func answering(_ work: () throws -> Response) throws -> Response {
    do {
      return try work()
    } catch let problem as Problem {
      return try problem.response()
    }
  }

  private func report() throws -> Response {
    try .json(tokens.withLock { TokenReport(issued: $0.issued, key: $0.key) })
  }
}
