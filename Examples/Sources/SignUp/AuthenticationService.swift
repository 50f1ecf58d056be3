import Attempts
import Combine
import Foundation
import Rebound
import ReboundHTTP

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
  private let baseURL: URL
  private let session: URLSession
  private let metrics: (any MetricsSink)?

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - baseURL: Where the server is, as in `http://127.0.0.1:8080`.
  ///   - session: Sends the requests; answers are delivered on its delegate queue.
  ///   - metrics: Gets what the requests cost.
  public init(baseURL: URL, session: URLSession, metrics: (any MetricsSink)? = nil) {
    self.baseURL = baseURL
    self.session = session
    self.metrics = metrics
  }

  /// Asks whether nobody has a user name yet.
  public func isAvailable(userName: String) -> AnyPublisher<Bool, APIError> {
    struct Answer: Decodable {
      let isAvailable: Bool
      let userName: String
    }
    guard let url = url(for: "isUserNameAvailable", query: ["userName": userName]) else {
      return Fail(error: .invalidRequest("the address of the server makes no sense")).eraseToAnyPublisher()
    }
    return send(URLRequest(url: url), as: "CheckUserName", for: Answer.self).map(\.isAvailable).eraseToAnyPublisher()
  }

  /// Creates an account, once for each key however often it is sent.
  public func signUp(
    userName: String,
    password: String,
    idempotencyKey: String
  ) -> AnyPublisher<Account, APIError> {
    guard
      let url = url(for: "signUp", query: [:]),
      let body = try? JSONEncoder().encode(["userName": userName, "password": password])
    else {
      return Fail(error: .invalidRequest("the name or the password can't be written down")).eraseToAnyPublisher()
    }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue(idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
    request.httpBody = body
    return send(request, as: "SignUp", for: Account.self)
  }

  private func url(for path: String, query: [String: String]) -> URL? {
    var components = URLComponents(url: baseURL.appendingPathComponent(path), resolvingAgainstBaseURL: false)
    guard !query.isEmpty else { return components?.url }
    components?.queryItems = query.map { URLQueryItem(name: $0, value: $1) }
    // A plus sign is left as it is by URLComponents, and read as a space by servers.
    let encoded = components?.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
    components?.percentEncodedQuery = encoded
    return components?.url
  }

  private func send<Answer: Decodable>(
    _ request: URLRequest,
    as operation: String,
    for type: Answer.Type
  ) -> AnyPublisher<Answer, APIError> {
    session.dataTaskPublisher(for: request)
      .reporting(to: metrics, as: operation)
      .mapError(APIError.transport)
      .tryMap { data, response in try Self.body(of: response, data) }
      .decode(type: type, decoder: JSONDecoder())
      .mapError { $0 as? APIError ?? .decoding($0) }
      .eraseToAnyPublisher()
  }

  /// The body of an answer that carries one, or the failure that the answer stands for.
  static func body(of response: URLResponse, _ data: Data) throws(APIError) -> Data {
    guard let response = response as? HTTPURLResponse else { throw .invalidResponse }
    let isPage = response.value(forHTTPHeaderField: "Content-Type")?.lowercased().hasPrefix("text/html") ?? false
    switch response.statusCode {
    case 200...299:
      // The service speaks JSON only: a web page in its place was put there by the network.
      if isPage { throw .captivePortal }
      return data
    case 511:
      throw .captivePortal
    case 400, 409, 413, 415, 422:
      throw .validation(reason(in: data) ?? "The server refused this input.")
    default:
      throw .server(
        status: response.statusCode,
        reason: reason(in: data),
        retryAfter: retryAfter(of: response)
      )
    }
  }

  private static func reason(in data: Data) -> String? {
    struct Problem: Decodable {
      let reason: String
    }
    return try? JSONDecoder().decode(Problem.self, from: data).reason
  }

  private static func retryAfter(of response: HTTPURLResponse) -> Duration? {
    guard let field = response.value(forHTTPHeaderField: "Retry-After") else { return nil }
    return RetryAfter.delay(
      fields: [field],
      date: response.value(forHTTPHeaderField: "Date"),
      receivedAt: HTTPDate(secondsSinceEpoch: Int64(Date().timeIntervalSince1970))
    )
  }
}
