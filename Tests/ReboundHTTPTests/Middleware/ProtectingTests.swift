import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Protecting")
struct ProtectingTests {
  static func breaker() throws -> CircuitBreaker {
    CircuitBreaker(
      "api",
      policy: try CircuitBreakerPolicy(consecutiveFailures: 2, openTime: .seconds(30)),
      failingWhen: NetworkFailure.speaksAgainstService
    )
  }

  @Test("while a service fails nothing is sent, and the failure says when to come back")
  func opens() throws {
    let breaker = try Self.breaker()
    let test = ClientUnderTest([.status(500)], repeatingLast: true, [Protecting(with: breaker)])
    for _ in 0..<2 { _ = try test.run(Forecast(city: "Rome")) }
    let failure = try #require(try test.run(Forecast(city: "Rome")).failure)
    expectEqual(failure.kind, .circuitOpen)
    expectEqual(failure.retryAfter, .seconds(30))
    #expect(failure.underlying is CircuitOpen)
    expectEqual(test.transport.count, 2)
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
    expectEqual(failure?.kind, .circuitOpen)
    expectEqual(failure?.earlier.map(\.kind), [.serverError(500), .serverError(500)])
    expectEqual(test.transport.count, 2)
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
    expectEqual(breaker.state, .closed)
    expectEqual(test.transport.count, 5)
  }

  @Test("given a policy, each host has a breaker of its own, which has its name")
  func policy() throws {
    let log = ValueLog<String>()
    let protecting = Protecting(try .consecutive(2, openFor: .seconds(30))) { log.append("\($0)") }
    let test = ClientUnderTest([.status(500)], repeatingLast: true, [protecting])
    for _ in 0..<3 { _ = try test.run(Anything()) }
    _ = try test.run(Anything(baseURL: URL(string: "https://other.example:8443")))
    expectEqual(test.transport.count, 3)
    expectEqual(log.values.count, 2)
    #expect(log.values.allSatisfy { $0.contains("api.example") })
    test.scheduler.advance(by: 30)
    _ = try test.run(Anything())
    expectEqual(test.transport.count, 4)
  }

  @Test(
    "given a policy, only what speaks against the service counts",
    arguments: [
      (.status(404), false), (.status(400), false), (.status(401), false), (.status(408), false),
      (.status(429), false), (.status(501), false), (.offline, false), (.captivePortal, false),
      (.status(500), true), (.status(503), true), (.timeout, true), (.reset, true), (.refused, true),
    ] as [(ScriptedTransport.Step, Bool)]
  )
  func counted(step: ScriptedTransport.Step, counts: Bool) throws {
    let test = ClientUnderTest([step], repeatingLast: true, [Protecting(try .consecutive(5))])
    for _ in 0..<6 { _ = try test.run(Anything()) }
    expectEqual(test.transport.count, counts ? 5 : 6)
  }

  @Test("given a policy, failures and successes in turn never open it, and a cancel has no vote")
  func consecutive() throws {
    let script = (0..<20).flatMap { _ in [ScriptedTransport.Step.status(503), .status(200)] }
    let test = ClientUnderTest(script + [.silence], repeatingLast: true, [Protecting(try .consecutive(2))])
    for _ in 0..<40 { _ = try test.run(Anything()) }
    for _ in 0..<5 { test.send(Anything()).cancel() }
    _ = test.send(Anything())
    expectEqual(test.transport.count, 46)
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
    expectEqual(first.state, .open)
    expectEqual(second.state, .closed)
    expectEqual(test.transport.count, 3)
  }
}
