import Foundation
import ReboundHTTP
import ReboundPresentation
import Testing

@testable import Weather

@Suite("WeatherFailure")
struct WeatherFailureTests {
  @Test(
    "what the network says is sorted into what can be done about it, with its words for people",
    arguments: [
      (NetworkFailure.Kind.notFound, "City Name is invalid", false),
      (.unauthorised, "Key is invalid", false),
      (.serverError(500), "Server error", true),
      (.serverError(503), "Server error", true),
      (.tooManyRequests, "Server error", true),
      (.transport(.connect), "The weather service can't be reached.", false),
      (.transport(.dns), "The weather service can't be reached.", false),
    ]
  )
  func sorted(kind: NetworkFailure.Kind, words: String, isTransient: Bool) {
    let failure = WeatherFailure(NetworkFailure(kind))
    #expect(failure.localizedDescription == words)
    #expect(failure.isTransient == isTransient)
    #expect(failure.recoverySuggestion?.isEmpty == false)
  }

  @Test("the pause that the service asks for is kept")
  func retryAfter() {
    #expect(WeatherFailure(NetworkFailure(.serverError(503), retryAfter: .seconds(7))).retryAfter == .seconds(7))
    #expect(WeatherFailure.offline.retryAfter == nil)
  }

  @Test("an answer of another form asks for an update; all else does not")
  func update() {
    #expect(WeatherFailure(NetworkFailure(.decoding)).mustUpdate)
    #expect(!WeatherFailure(NetworkFailure(.conflict)).mustUpdate)
    #expect(!WeatherFailure.offline.mustUpdate)
  }
}
