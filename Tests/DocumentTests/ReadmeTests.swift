import Combine
import Foundation
import Rebound
import ReboundTesting
import Testing

/// The code of README.md, as it stands there.
@Suite("The README's code")
struct ReadmeTests {
  private final class Form: ObservableObject {
    @Published var userName = ""
    @Published var message = ""
  }

  private enum ServiceError: LocalizedError, RetryAfterProviding {
    case maintenance(retryAfter: Duration)

    var isTransient: Bool { true }
    var retryAfter: Duration? { if case .maintenance(let pause) = self { pause } else { nil } }
    var errorDescription: String? { "Down for maintenance" }
  }

  private final class Service {
    private(set) var askedNames: [String] = []
    private let answers = TestPublisher<Bool, ServiceError>()

    func isAvailable(_ name: String) -> AnyPublisher<Bool, ServiceError> {
      askedNames.append(name)
      return answers.eraseToAnyPublisher()
    }

    func answer(_ isAvailable: Bool) {
      answers.send(isAvailable)
      answers.send(completion: .finished)
    }

    func fail(_ error: ServiceError) {
      answers.send(completion: .failure(error))
    }
  }

  @Test("the form asks once per pause, waits as long as the server asks, and shows what it learns")
  func signUp() {
    let form = Form()
    let service = Service()
    let scheduler = TestScheduler()
    var subscriptions: Set<AnyCancellable> = []

    form.$userName
      .debounce(for: .milliseconds(800), scheduler: scheduler)
      .removeDuplicates()
      .flatMapLatestResult { name in
        service.isAvailable(name)
          .retry(
            .exponential(from: .milliseconds(500), upTo: .seconds(20)),
            times: 2,
            when: \.isTransient,
            time: TimeSource(scheduler)
          )
      }
      .sink { result in
        switch result {
        case .success(let isAvailable): form.message = isAvailable ? "" : "This username is not available"
        case .failure(let error): form.message = error.localizedDescription
        }
      }
      .store(in: &subscriptions)

    form.userName = "some"
    scheduler.advance(by: .milliseconds(500))
    form.userName = "somebody"
    scheduler.advance(by: .milliseconds(800))
    #expect(service.askedNames == ["somebody"])

    service.fail(.maintenance(retryAfter: .seconds(5)))
    scheduler.advance(by: .seconds(5))
    service.answer(true)
    #expect(form.message == "")

    form.userName = "page"
    scheduler.advance(by: .milliseconds(800))
    service.answer(false)
    #expect(form.message == "This username is not available")
  }
}
