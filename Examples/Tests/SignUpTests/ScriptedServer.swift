import Combine
import ReboundTesting

@testable import SignUp

/// A server whose answers a test gives by hand.
final class ScriptedServer: Authenticating {
  struct SignUp {
    let userName: String
    let key: String
    let publisher: TestPublisher<Account, APIError>
  }

  private(set) var askedNames: [String] = []
  private(set) var checks: [TestPublisher<Bool, APIError>] = []
  private(set) var signUps: [SignUp] = []
  private var keys = 0

  func isAvailable(userName: String) -> AnyPublisher<Bool, APIError> {
    let publisher = TestPublisher<Bool, APIError>()
    askedNames.append(userName)
    checks.append(publisher)
    return publisher.eraseToAnyPublisher()
  }

  func signUp(userName: String, password: String, idempotencyKey: String) -> AnyPublisher<Account, APIError> {
    let publisher = TestPublisher<Account, APIError>()
    signUps.append(SignUp(userName: userName, key: idempotencyKey, publisher: publisher))
    return publisher.eraseToAnyPublisher()
  }

  func nextKey() -> String {
    keys += 1
    return "key \(keys)"
  }

  /// Answers a question; the latest unless told otherwise.
  func answer(_ result: Result<Bool, APIError>, to index: Int? = nil) {
    let publisher = checks[index ?? checks.count - 1]
    switch result {
    case .success(let isAvailable):
      publisher.send(isAvailable)
      publisher.send(completion: .finished)
    case .failure(let error):
      publisher.send(completion: .failure(error))
    }
  }

  func answerSignUp(_ result: Result<Account, APIError>) {
    let publisher = signUps[signUps.count - 1].publisher
    switch result {
    case .success(let account):
      publisher.send(account)
      publisher.send(completion: .finished)
    case .failure(let error):
      publisher.send(completion: .failure(error))
    }
  }
}
