import Attempts
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

/// What the sign-up form needs from a server.
public protocol Authenticating {
  /// Asks whether nobody has a user name yet.
  func isAvailable(userName: String) -> AnyPublisher<Bool, APIError>

  /// Creates an account, once for each key however often it is sent.
  ///
  /// - Parameter idempotencyKey: The same for every repetition of one wish, so that a repetition after a lost answer
  ///   does not meet the account that the first one made.
  func signUp(userName: String, password: String, idempotencyKey: String) -> AnyPublisher<Account, APIError>
}

/// An account that the server keeps.
public struct Account: Decodable, Equatable, Sendable {
  /// The name that the account was made for.
  public let userName: String

  /// Makes a record of an account.
  public init(userName: String) {
    self.userName = userName
  }
}

/// The authentication server, over HTTP.
public struct AuthenticationService: Authenticating, Sendable {
  private struct CheckUserName: Request {
    struct Answer: Decodable, Sendable {
      let isAvailable: Bool
      let userName: String
    }

    let userName: String
    var path: RequestPath { "isUserNameAvailable" }
    var query: Parameters { ["userName": userName] }
    typealias Response = Answer
  }

  private struct SignUp: Request {
    let userName: String
    let password: String
    let idempotency: Idempotency
    var path: RequestPath { "signUp" }
    var method: HTTPMethod { .post }
    var body: RequestBody { .json(["userName": userName, "password": password]) }
    typealias Response = Account
  }

  private let client: WebAPIClient

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - baseURL: Where the server is, as in `http://127.0.0.1:8080`.
  ///   - transport: Sends the requests; answers are delivered where it sends them.
  ///   - metrics: Gets what the requests cost.
  ///   - lines: Gets a line for each thing that happens in a call.
  ///   - onEvent: Is told of each thing that happens in a call.
  public init(
    baseURL: URL,
    transport: any Transport,
    metrics: (any MetricsSink)? = nil,
    lines: JSONLines? = nil,
    onEvent: (@Sendable (HTTPEvent) -> Void)? = nil
  ) {
    client = WebAPIClient(baseURL: baseURL, transport: transport, watchedBy: metrics, lines, onEvent)
  }

  /// Asks whether nobody has a user name yet.
  public func isAvailable(userName: String) -> AnyPublisher<Bool, APIError> {
    client.publisher(for: CheckUserName(userName: userName))
      .map(\.isAvailable)
      .mapError(APIError.init)
      .eraseToAnyPublisher()
  }

  /// Creates an account, once for each key however often it is sent.
  public func signUp(
    userName: String,
    password: String,
    idempotencyKey: String
  ) -> AnyPublisher<Account, APIError> {
    client.publisher(for: SignUp(userName: userName, password: password, idempotency: .key(idempotencyKey)))
      .mapError(APIError.init)
      .eraseToAnyPublisher()
  }
}
