import Combine
import Forecasts
import Rebound
import ReboundTesting
import Testing
import Thermometers

@Suite("The libraries of the article for library authors")
struct LibraryTests {
  /// Fails with the errors that it is given, one for each call, and then answers.
  private actor Service {
    private var failures: [ForecastFailure]
    private(set) var calls = 0

    init(failingWith failures: ForecastFailure...) { self.failures = failures }

    func forecast(_ city: String) throws -> Forecast {
      calls += 1
      if !failures.isEmpty { throw failures.removeFirst() }
      return Forecast(city: city, degrees: 21)
    }
  }

  @Test("publish on Linux what was written for Apple's Combine")
  func thermometer() {
    let thermometer = Thermometer()
    var readings: [Double] = []
    let subscription = thermometer.readings.sink { readings.append($0) }
    thermometer.report(20)
    thermometer.report(21)
    subscription.cancel()
    #expect(readings == [20, 21])
  }

  @Test("try nothing twice without policies")
  func withoutPolicies() async {
    let service = Service(failingWith: .unreachable)
    let forecasts = Forecasts { try await service.forecast($0) }
    await #expect(throws: ForecastFailure.unreachable) { try await forecasts.forecast(for: "Rome") }
    #expect(await service.calls == 1)
  }

  @Test("wait as long as the service asks, in the time of the test")
  func recommended() throws {
    try simulate(runs: 10) {
      let service = Service(failingWith: .busy(retryAfter: .seconds(3)))
      let forecasts = Forecasts(policies: try Forecasts.recommendedPolicies()) { try await service.forecast($0) }
      let begin = TimeSource.current.now
      try requireEqual(try await forecasts.forecast(for: "Rome").degrees, 21)
      try requireTrue(TimeSource.current.now - begin >= .seconds(3), "the pause that the service asked for")
      try requireEqual(await service.calls, 2)
    }
  }

  @Test("pass on what no second call would change")
  func refusal() async throws {
    let service = Service(failingWith: .unknownCity)
    let forecasts = Forecasts(policies: try Forecasts.recommendedPolicies()) { try await service.forecast($0) }
    await #expect(throws: ForecastFailure.unknownCity) { try await forecasts.forecast(for: "Atlantis") }
    #expect(await service.calls == 1)
  }
}
