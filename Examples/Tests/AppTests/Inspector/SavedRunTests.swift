import Attempts
import Backend
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import ServerTesting
import Testing
import Weather
import WebServer

@testable import App

/// Failures as the inspector saves them, which fail again in the same way.
///
/// `scripts/reproductions` has the last one written into a folder (REBOUND_REPRODUCTIONS), and builds and runs it as a test.
@Suite("SavedRun") @MainActor
struct SavedRunTests {
  /// A client as the app has it, whose inspector is open from the second call on.
  @MainActor private final class Client {
    let lines = JSONLines(hiding: Redaction.standard.line)
    let recorder: WeatherRecorder
    let service: WeatherService
    let log: AttemptLog<ImmediateScheduler>
    let calls = Locked<[String]>([])
    private var readings: [AnyCancellable] = []

    init(_ backend: BackendServer) throws {
      let recorder = WeatherRecorder(lines: lines)
      self.recorder = recorder
      service = WeatherService(
        baseURL: try #require(URL(string: backend.url)),
        key: "rebound",
        transport: URLSessionTransport(),
        onEvent: { [calls] event in
          recorder.write(event)
          if case .began = event.kind, event.operation == "CurrentWeather" {
            calls.withLock { $0.append(event.requestID) }
          }
        }
      )
      log = AttemptLog(scheduler: .shared)
    }

    func openInspector() {
      readings = [lines.read { _ in }]
      calls.withLock { $0 = [] }
    }

    func load(_ place: Place, retrying policy: RetryPolicy<WeatherFailure>? = nil) async {
      let answers = log.writingDown(
        place == .city("Oslo") ? "GET /weather?city=Oslo" : "GET /weather?latitude=59.9&longitude=10.7",
        service.weather(at: place),
        retrying: policy,
        success: { $0.city },
        failure: { "\($0)" }
      )
      for await _ in answers.asResult().values {}
    }

    func save() throws -> SavedRun {
      let calls = Set(calls.withLock { $0 })
      let run = try #require(log.runs.last)
      return try SavedRun(of: run, exchanges: recorder.exchanges(of: calls), calls: calls.count, key: "rebound")
    }
  }

  private func withClient(_ body: @MainActor (Client, BackendServer) async throws -> Void) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("The backend failed: \($0)") })
    do {
      try await body(try Client(backend), backend)
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  private func fail(_ backend: BackendServer, _ fault: String) async throws {
    let answer = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
    #expect(answer?.status == 201 || answer?.status == 200 || answer?.status == 204)
  }

  /// Runs the statements of the test with what was saved.
  private func reproduce(_ saved: SavedRun, at place: Place) throws -> ReproducedFailure {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("saved-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // The system empties the folder above.
    let test = try saved.recorded.writeTest(into: folder) { saved.program }
    let archive = test.deletingLastPathComponent()
      .appendingPathComponent("\(test.deletingPathExtension().lastPathComponent.dropLast("Tests".count)).har")
    return try #require(throws: ReproducedFailure.self) {
      try ReboundTesting.reproduce(
        archive.path,
        seed: saved.recorded.seed,
        failure: saved.recorded.failure,
        decisions: saved.recorded.decisions
      ) { recorded in
        let service = WeatherService(baseURL: recorded.baseURL, key: "rebound", transport: recorded.transport)
        let policy = RetryPolicy.weather().onEvent { recorded.events.tell($0, of: "weather") }
        if saved.recorded.decisions.isEmpty {
          for try await _ in service.weather(at: place).values {}
        } else {
          for try await _ in service.weather(at: place).retry(policy).values {}
        }
      }
    }
  }

  @Test(
    "a run that was retried and given up fails again after the same decisions, with a token older than the inspector"
  )
  func retried() async throws {
    try await withClient { client, backend in
      await client.load(.city("Oslo"))
      client.openInspector()
      try await fail(backend, #"{"path":"/weather","fault":"status","status":503,"times":5}"#)
      await client.load(.city("Oslo"), retrying: .weather(after: .constant(.milliseconds(1))))
      let saved = try client.save()
      #expect(saved.recorded.decisions.count == 5)
      #expect(saved.recorded.decisions.first?.contains("retrying in … seconds") == true)
      let again = try reproduce(saved, at: .city("Oslo"))
      #expect(again.isAsRecorded, "\(again)")
      #expect(saved.program.contains(#".city("Oslo")).retry(policy).values"#))
      let archive = try saved.archive()
      #expect(String(decoding: archive, as: UTF8.self).contains("weatherOfOslo.har"))
      try writeForScript(saved)
    }
  }

  @Test("a run without a policy fails again, by position, too")
  func once() async throws {
    try await withClient { client, backend in
      client.openInspector()
      try await fail(backend, #"{"path":"/weather","fault":"garbage","times":1}"#)
      let place = Place.position(latitude: 59.9, longitude: 10.7)
      await client.load(place)
      let saved = try client.save()
      #expect(saved.recorded.decisions.isEmpty)
      #expect(saved.program.contains(".position(latitude: 59.9, longitude: 10.7)"))
      let again = try reproduce(saved, at: place)
      #expect(again.isAsRecorded, "\(again)")
    }
  }

  @Test("a run that went well, and one of which not all was recorded, are refused with the reason")
  func refused() async throws {
    try await withClient { client, backend in
      client.openInspector()
      await client.load(.city("Oslo"))
      #expect {
        try client.save()
      } throws: {
        "\($0)".contains("has not failed")
      }
      try await fail(backend, #"{"path":"/weather","fault":"status","status":403,"times":1}"#)
      client.calls.withLock { $0 = ["0123456789abcdef"] }
      await client.load(.city("Oslo"))
      #expect {
        try client.save()
      } throws: {
        "\($0)".contains("can't be replayed")
      }
    }
  }

  private func writeForScript(_ saved: SavedRun) throws {
    guard let folder = ProcessInfo.processInfo.environment["REBOUND_REPRODUCTIONS"] else { return }
    try saved.recorded.writeTest(
      into: URL(fileURLWithPath: folder),
      importing: ["Combine", "Rebound", "Weather"]
    ) { saved.program }
  }
}
