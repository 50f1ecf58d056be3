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
  private var current: TestPublisher<Bool, APIError>?

  func isAvailable(userName: String) -> AnyPublisher<Bool, APIError> {
    // A retry asks for a publisher again; it counts as another subscription to the same question.
    if askedNames.last != userName || checks.last?.connections.last?.isCancelled == true || isAnswered {
      askedNames.append(userName)
      checks.append(TestPublisher())
      isAnswered = false
    }
    return checks[checks.count - 1].eraseToAnyPublisher()
  }

  private var isAnswered = false

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
      isAnswered = true
      publisher.send(isAvailable)
      publisher.send(completion: .finished)
    case .failure(let error):
      // Only a transient failure is asked again under the same question.
      isAnswered = !error.isTransient
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
