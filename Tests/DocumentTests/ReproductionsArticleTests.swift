import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

/// The code of Reproductions.md, as it stands there.
@Suite("The code of the article about recorded failures")
struct ReproductionsArticleTests {
  struct Forecast: Request {
    var path: RequestPath { "forecast" }
    typealias Response = String
  }

  @Test("a failure becomes a test")
  func written() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reproductions-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // The system empties the folder above.
    try Simulation(seed: 1, limits: SimulationLimits(allowsLeftOvers: true)).run {
      let service = URL(string: "https://api.example")
      let network = ScriptedTransport([.status(503)], repeatingLast: true)

      let log = HARLog()
      let events = PolicyEvents()
      let decisions = PolicyEventLog(of: events)
      let client = WebAPIClient(baseURL: service, transport: network, deliveringOn: nil).onEvent(log.write)
      let weather = try Pipeline<String>("weather", events: events) { Retry(.http) }
      do {
        _ = try await weather.run { try await client.value(of: Forecast()) }
      } catch {
        let recorded = try RecordedFailure(
          "weather of Rome",
          failure: error,
          archive: log.export(),
          decisions: decisions.events
        )
        try recorded.writeTest(into: folder, importing: ["Weather"]) {
          "_ = try await Weather(transport: recorded.transport, baseURL: recorded.baseURL, events: recorded.events).load()"
        }
      }
    }
    let test = try String(contentsOf: folder.appendingPathComponent("weatherOfRomeTests.swift"), encoding: .utf8)
    #expect(
      test.contains(
        #"failure: "Forecast: GET https://api.example/forecast failed: 503 (attempt 1, … seconds, request …)""#
      )
    )
    #expect(test.contains(#""weather: retry: attempt 1 failed ("#))
    #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("weatherOfRome.har").path))
  }
}
