import Combine
import Foundation
import Rebound
import ReboundPresentation
import ReboundTesting
import Testing

/// The code of Sources/ReboundPresentation/ReboundPresentation.docc, as it stands there.
@Suite("The code of ReboundPresentation's pages")
struct ReboundPresentationPageTests {
  @Test("one function says how each error is shown")
  func landingPage() {
    struct Busy: PresentableError, LocalizedError, RetryAfterProviding {
      var errorDescription: String? { "The weather service is having a break." }
      var isMaintenance: Bool { true }
      var retryAfter: Duration? { .seconds(17) }
    }

    #expect(present(CancellationError(), in: .action) == .ignore)
    #expect(present(Busy(), in: .refresh).surface == .banner)
    #expect(
      present(Busy(), in: .firstLoad).rendered() == """
        [fullScreen] Down for maintenance
        The weather service is having a break.
        Trying again in 17 s
        (Try again)
        """
    )
  }

  @Test("a request counts down and tries again")
  func recovering() {
    struct Busy: RetryAfterProviding {
      var retryAfter: Duration? { .seconds(17) }
    }
    let scheduler = TestScheduler()
    let isOnline = PassthroughSubject<Bool, Never>()
    var attempts = 0
    let forecast = Deferred {
      attempts += 1
      return attempts == 1 ? Result<String, Busy>.failure(Busy()).publisher : Result.success("Sun").publisher
    }

    let request = RecoverableRequest(
      forecast,
      network: isOnline.eraseToAnyPublisher(),
      scheduler: scheduler  // the main queue in the program, where none is said
    )
    request.load()
    scheduler.advance()
    #expect(request.state.problem?.secondsLeft == 17)
    scheduler.advance(by: .seconds(17))
    #expect(request.state.value == "Sun")
  }
}
