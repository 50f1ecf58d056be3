import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("Protecting")
struct ProtectingTests {
  static func breaker(_ test: TestScheduler? = nil) throws -> CircuitBreaker {
    CircuitBreaker(
      "api",
      policy: try CircuitBreakerPolicy(consecutiveFailures: 2, openTime: .seconds(30)),
      time: MonotonicTime { test?.elapsed ?? .zero },
      countingAsFailure: NetworkFailure.speaksAgainstService
    )
  }

  @Test("while a service fails nothing is sent, and the failure says when to come back")
  func opens() throws {
    let breaker = try Self.breaker()
    let test = ClientUnderTest([.status(500)], repeatingLast: true, [Protecting(with: breaker)])
    for _ in 0..<2 { _ = try test.run(Forecast(city: "Rome")) }
    let failure = try #require(try test.run(Forecast(city: "Rome")).failure)
    #expect(failure.kind == .circuitOpen)
    #expect(failure.retryAfter == .seconds(30))
    #expect(failure.underlying is CircuitOpen)
    #expect(test.transport.count == 2)
  }

  @Test("a refusal is not repeated by the retries around it")
  func refusalIsFinal() throws {
    let breaker = try Self.breaker()
    let test = ClientUnderTest(
      [.status(500)],
      repeatingLast: true,
      [
        Protecting(with: breaker), Retrying(RetryPolicy(clamping: 9, backoff: .constant(.seconds(1)))),
      ]
    )
    let failure = try test.run(Forecast(city: "Rome")).failure
    #expect(failure?.kind == .circuitOpen)
    #expect(failure?.earlier.map(\.kind) == [.serverError(500), .serverError(500)])
    #expect(test.transport.count == 2)
  }

  @Test(
    "what the user or the network around the device does has no vote",
    arguments: [
      .status(400), .status(404), .status(429), .status(501), .status(505), .offline, .captivePortal,
    ]
      as [ScriptedTransport.Step]
  )
  func noVote(step: ScriptedTransport.Step) throws {
    let breaker = try Self.breaker()
    let test = ClientUnderTest([step], repeatingLast: true, [Protecting(with: breaker)])
    for _ in 0..<5 { _ = try test.run(Forecast(city: "Rome")) }
    #expect(breaker.state == .closed)
    #expect(test.transport.count == 5)
  }

  @Test("each host has a breaker of its own")
  func perHost() throws {
    let (first, second) = (try Self.breaker(), try Self.breaker())
    let test = ClientUnderTest(
      [.reset],
      repeatingLast: true,
      [
        Protecting { $0 == "api.example" ? first : second }
      ]
    )
    for _ in 0..<3 { _ = try test.run(Anything()) }
    _ = try test.run(Anything(baseURL: URL(string: "https://other.example:8443")))
    #expect(first.state == .open)
    #expect(second.state == .closed)
    #expect(test.transport.count == 3)
  }
}
