import Rebound
import ReboundStorm
import Testing

@Suite("A prediction")
struct PredictionTests {
  private func scenario(queueLimit: Int? = nil) -> Scenario {
    let service = Service(replicas: 2, concurrency: 20, queueLimit: queueLimit, time: .constant(0.08))
    return Scenario(
      arrivals: .poisson(perSecond: 50),
      service: service,
      faults: [.outage(from: 2, to: 4)],
      duration: 10
    )
  }

  @Test(arguments: [-1, Int.max])
  func refusesANumberOfRetriesThatMakesNoSense(maxRetries: Int) {
    let settings = PolicySettings(maxRetries: maxRetries)
    let refusal = #expect(throws: InvalidPolicy.self) { try Prediction(of: settings, in: scenario()) }
    #expect(refusal?.setting == "maxRetries")
  }

  @Test(arguments: [1e18, Double.infinity])
  func countsNoRetryThatWaitsForLongerThanAnyPlay(delay: Double) throws {
    let prediction = try Prediction(of: PolicySettings(maxRetries: 1, firstDelay: delay), in: scenario())
    let none = try Prediction(of: PolicySettings(), in: scenario())
    #expect(prediction.amplification == none.amplification)
  }

  @Test func takesAQueueOfAnyLength() throws {
    let settings = PolicySettings(maxRetries: 1, firstDelay: 1)
    let prediction = try Prediction(of: settings, in: scenario(queueLimit: .max))
    #expect(try prediction == Prediction(of: settings, in: scenario()))
  }
}
