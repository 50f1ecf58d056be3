// A client as it would be written for an iPhone: nothing in this file knows that it runs elsewhere.
import Combine
import Foundation

struct UserNameAvailableMessage: Decodable {
  var isAvailable: Bool
  var userName: String
}

struct APIErrorMessage: Decodable {
  var error: Bool
  var reason: String
}

enum ClientError: LocalizedError {
  case transportError(Error)
  case invalidResponse
  case validationError(String)
  case serverError(statusCode: Int, reason: String?, retryAfter: String?)

  var errorDescription: String? {
    switch self {
    case .transportError(let error): return error.localizedDescription
    case .invalidResponse: return "Invalid response"
    case .validationError(let reason): return "Validation Error: \(reason)"
    case .serverError(let statusCode, let reason, _): return reason ?? "Server error \(statusCode)"
    }
  }
}

struct AuthenticationClient {
  var baseURL: URL

  func checkUserNameAvailable(userName: String) -> AnyPublisher<Bool, Error> {
    guard var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: false) else {
      return Fail(error: URLError(.badURL)).eraseToAnyPublisher()
    }
    components.path = "/isUserNameAvailable"
    components.queryItems = [URLQueryItem(name: "userName", value: userName)]
    guard let url = components.url else {
      return Fail(error: URLError(.badURL)).eraseToAnyPublisher()
    }

    let dataTaskPublisher = URLSession.shared.dataTaskPublisher(for: url)
      .mapError { error -> Error in
        ClientError.transportError(error)
      }
      .tryMap { (data, response) -> (data: Data, response: URLResponse) in
        guard let urlResponse = response as? HTTPURLResponse else {
          throw ClientError.invalidResponse
        }
        if (200..<300) ~= urlResponse.statusCode {
          return (data, response)
        }
        let apiError = try JSONDecoder().decode(APIErrorMessage.self, from: data)
        if urlResponse.statusCode == 400 {
          throw ClientError.validationError(apiError.reason)
        }
        throw ClientError.serverError(
          statusCode: urlResponse.statusCode,
          reason: apiError.reason,
          retryAfter: urlResponse.value(forHTTPHeaderField: "Retry-After")
        )
      }

    return
      dataTaskPublisher
      .tryCatch { error -> AnyPublisher<(data: Data, response: URLResponse), Error> in
        if case ClientError.serverError(_, _, let retryAfter) = error, retryAfter != nil {
          return Just(())
            .delay(for: .milliseconds(10), scheduler: DispatchQueue.global())
            .flatMap { _ in dataTaskPublisher }
            .retry(10)
            .eraseToAnyPublisher()
        }
        throw error
      }
      .map(\.data)
      .decode(type: UserNameAvailableMessage.self, decoder: JSONDecoder())
      .map(\.isAvailable)
      .eraseToAnyPublisher()
  }
}
