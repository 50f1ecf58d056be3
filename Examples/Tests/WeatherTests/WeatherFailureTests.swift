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
      (.serverError(501), "Server error", true),
      (.serverError(503), "Server error", true),
      (.circuitOpen, "Server error", true),
      (.badRequest, "Request is refused", false),
      (.forbidden, "Request is refused", false),
      (.notAcceptable, "Request is refused", false),
      (.conflict, "Request is refused", false),
      (.gone, "Request is refused", false),
      (.unprocessable, "Request is refused", false),
      (.tooManyRequests, "Request is refused", true),
      (.clientError(408), "Request is refused", true),
      (.clientError(418), "Request is refused", false),
      (.unexpectedStatus(302), "Server error", false),
      (.captivePortal, "Server error", false),
      (.decoding, "Server error", false),
      (.transport(.timeout(.idle)), "Server error", true),
      (.transport(.reset), "Server error", true),
      (.transport(.offline), "The weather service can't be reached.", false),
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

  @Test("a refusal is told in the service's own words, if it has any")
  func reason() {
    let failure = NetworkFailure(.badRequest, server: ServerMessage(text: "Say where"))
    #expect(WeatherFailure(failure).localizedDescription == "Say where")
  }

  @Test("the list of attempts says what a failure was that people are told in general words")
  func outcomes() {
    #expect(WeatherFailure(NetworkFailure(.transport(.timeout(.idle)))).outcome == "Server error (timeout)")
    #expect(WeatherFailure(NetworkFailure(.decoding)).outcome == "Server error (decoding)")
    #expect(WeatherFailure.unknownCity.outcome == "City Name is invalid")
  }

  @Test(
    "the pause that the service asks for is kept",
    arguments: [NetworkFailure.Kind.serverError(503), .tooManyRequests]
  )
  func retryAfter(kind: NetworkFailure.Kind) {
    #expect(WeatherFailure(NetworkFailure(kind, retryAfter: .seconds(7))).retryAfter == .seconds(7))
    #expect(WeatherFailure.offline.retryAfter == nil)
  }

  @Test("a service is down if it says so, and not if it is asked too often, or fails")
  func maintenance() {
    #expect(WeatherFailure(NetworkFailure(.serverError(503))).isMaintenance)
    #expect(!WeatherFailure(NetworkFailure(.tooManyRequests)).isMaintenance)
    #expect(!WeatherFailure(NetworkFailure(.serverError(500))).isMaintenance)
    #expect(!WeatherFailure(NetworkFailure(.circuitOpen)).isMaintenance)
  }

  @Test("an answer of another form asks for an update; all else does not")
  func update() {
    #expect(WeatherFailure(NetworkFailure(.decoding)).mustUpdate)
    #expect(!WeatherFailure(NetworkFailure(.conflict)).mustUpdate)
    #expect(!WeatherFailure(NetworkFailure(.serverError(503))).mustUpdate)
    #expect(!WeatherFailure.offline.mustUpdate)
  }
}
