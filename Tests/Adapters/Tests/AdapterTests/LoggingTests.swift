import Combine
import Foundation
import Logging
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundLogging
import Testing

@Suite struct LoggingTests {
  private let log = LogLines()
  private let events = PolicyEvents()

  @Test func severitiesAreTheLevelsOfTheirNames() {
    let subscription = events.log(to: log.logger())
    for severity in [PolicyEvent.Severity.info, .warning, .error] {
      events.tell(Decision(severity: severity), of: "weather")
    }
    subscription.cancel()
    #expect(log.lines.map(\.level) == [.info, .warning, .error])
  }

  @Test func sourceKindAndWordAreMetadata() throws {
    let subscription = events.log(to: log.logger())
    events.tell(Decision(), of: "weather")
    subscription.cancel()
    let line = try #require(log.lines.first)
    #expect(line.message == "door keeper: let in")
    #expect(
      line.metadata == [
        "rebound.source": "weather", "rebound.policy": "door_keeper", "rebound.decision": "let_in",
      ]
    )
  }

  @Test func theExecutionIsMetadataWhereThereIsOne() async throws {
    let subscription = events.log(to: log.logger())
    let pipeline = try Pipeline<Int>("weather", events: events) { Stopwatch() }
    for _ in 1...2 { _ = try await pipeline.run { 7 } }
    subscription.cancel()
    #expect(log.lines.map { $0.metadata["rebound.execution"] } == ["1", "2"])
  }

  @Test func secretsInTheTextOfAnErrorAreHidden() throws {
    let subscription = events.log(to: log.logger())
    events.tell(
      Decision(description: "failed: https://a.example/?access_token=hush Authorization: Bearer hush"),
      of: "a"
    )
    subscription.cancel()
    let line = try #require(log.lines.first)
    #expect(!line.message.contains("hush"))
    #expect(line.message.hasPrefix("door keeper: failed"))
  }

  @Test func nothingIsLoggedAfterACancel() {
    events.log(to: log.logger()).cancel()
    events.tell(Decision(), of: "weather")
    #expect(log.lines.isEmpty)
    #expect(!events.isListened)
  }

  @Test func belowTheLevelOfTheLoggerNothingIsLogged() {
    let subscription = events.log(to: log.logger(at: .error))
    events.tell(Decision(severity: .warning), of: "weather")
    events.tell(Decision(severity: .error), of: "weather")
    subscription.cancel()
    #expect(log.lines.map(\.level) == [.error])
  }

  @Test func eventsOfCallsHaveTheirLevelsAndNoSecrets() async throws {
    let client = WebAPIClient(
      baseURL: URL(string: "https://a.example"),
      transport: ScriptedTransport([.status(503)]),
      deliveringOn: nil
    )
    .logging(to: log.logger(at: .debug))
    await #expect(throws: NetworkFailure.self) { try await client.value(of: Secretive()) }
    let lines = log.lines
    #expect(lines.first?.level == .debug)
    #expect(lines.filter { $0.level == .warning }.count == 1)
    #expect(lines.last?.level == .error)
    #expect(lines.allSatisfy { !$0.message.contains("hush") && $0.source == "ReboundHTTP" })
    #expect(Set(lines.compactMap { $0.metadata["rebound.operation"] }) == ["Secretive"])
    #expect(Set(lines.compactMap { $0.metadata["rebound.request_id"] }).count == 1)
  }
}

private struct Secretive: Request {
  var path: RequestPath { "weather" }
  var query: Parameters { ["access_token": "hush"] }
  typealias Response = String
}
