import Attempts
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

/// Where the weather comes from.
public protocol WeatherProviding: AnyObject {
  /// The weather of a place.
  func weather(at place: Place) -> AnyPublisher<Weather, WeatherFailure>
  /// Finishes as soon as the service answers, however long that takes.
  func untilReachable() -> AnyPublisher<Never, Never>
  /// Uses this API key from now on.
  func use(key: String)
}

/// The weather service, over HTTP, for one person.
///
/// Every request needs an access token, which expires. It is renewed once for all requests that need it, with the API
/// key.
public final class WeatherService: WeatherProviding {
  /// What requests are sent with.
  private struct Credential: Sendable {
    let key: String
    var token = ""
    /// A key alone has to be changed into a token before the first request.
    var lifetime = Duration.zero
  }

  private let client: WebAPIClient
  /// Asks what needs no access token, past the breaker and the limiter.
  private let plain: WebAPIClient
  private let protection: WeatherProtection?
  private let refresher: TokenRefresher<Credential>
  private let events: PolicyEvents?

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - baseURL: Where the server is, as in `http://127.0.0.1:8080`.
  ///   - key: The API key.
  ///   - transport: Sends the requests.
  ///   - protection: Keeps requests for the weather from a service that fails, and paces them; shared by all who ask it.
  ///   - metrics: Gets what the requests cost.
  ///   - events: Is told what is decided about the access token and about the service's return.
  ///   - lines: Gets a line for each thing that happens in a call.
  ///   - onEvent: Is told of each thing that happens in a call.
  ///   - onTokenRequest: Called before a new access token is asked for.
  public init(
    baseURL: URL,
    key: String,
    transport: any Transport,
    protection: WeatherProtection? = nil,
    metrics: (any MetricsSink)? = nil,
    events: PolicyEvents? = nil,
    lines: JSONLines? = nil,
    onEvent: (@Sendable (HTTPEvent) -> Void)? = nil,
    onTokenRequest: @escaping @Sendable () -> Void = {}
  ) {
    let plain = WebAPIClient(baseURL: baseURL, transport: transport, deliveringOn: nil)
      .watched(by: metrics, lines, onEvent)
    self.plain = plain
    self.protection = protection
    refresher = TokenRefresher(
      lifetime: { $0.lifetime },
      rejectedWhen: { (failure: NetworkFailure) in failure.kind == .unauthorised },
      refreshingWith: { refresh in
        onTokenRequest()
        let key = refresh.credential.key
        return plain.publisher(for: AccessToken(key: key))
          .map { Credential(key: key, token: $0.accessToken, lifetime: .seconds($0.expiresInSeconds)) }
          .eraseToAnyPublisher()
      }
    )
    self.events = events
    events?.watch(refresher, named: "weather")
    refresher.signIn(with: Credential(key: key))
    client = WebAPIClient(
      baseURL: baseURL,
      transport: transport,
      middleware: [Authenticating(with: refresher) { $0["Authorization"] = "Bearer \($1.token)" }]
        + (protection?.middleware ?? []),
      deliveringOn: nil
    )
    .watched(by: metrics, lines, onEvent)
  }

  /// The weather of a place.
  public func weather(at place: Place) -> AnyPublisher<Weather, WeatherFailure> {
    client.publisher(for: CurrentWeather(place: place)).mapError(WeatherFailure.init).eraseToAnyPublisher()
  }

  /// Finishes as soon as the service answers: asks after 1, 2, 3 and then every 5 seconds.
  public func untilReachable() -> AnyPublisher<Never, Never> {
    let policy = RetryPolicy<NetworkFailure>(
      clamping: nil,
      backoff: .steps(.seconds(1), .seconds(2), .seconds(3), .seconds(5))
    )
    .onEvent { [events] in events?.tell($0, of: "weather") }
    return plain.publisher(for: Health())
      .retry(policy, time: plain.time)
      // The service is there again, whatever the breaker has seen before.
      .handleEvents(receiveOutput: { [protection] _ in protection?.breaker.close() })
      .ignoreOutput()
      .catch { _ in Empty() }
      .eraseToAnyPublisher()
  }

  /// Uses this API key from now on.
  public func use(key: String) {
    refresher.signIn(with: Credential(key: key))
  }
}
