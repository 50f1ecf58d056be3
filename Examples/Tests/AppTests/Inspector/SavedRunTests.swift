import Animals
import Attempts
import Backend
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTelemetry
import ServerTesting
import SignUp
import Testing
import Weather
import WebServer

@testable import App

/// Failures as the inspector saves them, which fail again in the same way.
///
/// `scripts/reproductions` has five of them written into a folder (REBOUND_REPRODUCTIONS), and builds and runs them as tests.
@Suite("SavedRun") @MainActor
struct SavedRunTests {
  /// The clients as the apps have them, whose inspector is open from the second call on.
  @MainActor private final class Client {
    let lines = JSONLines(hiding: Redaction.standard.line)
    let recorder: RunRecorder
    let weather: WeatherService
    let animals: AnimalService
    let accounts: AuthenticationService
    let log: AttemptLog<ImmediateScheduler>
    let calls = Locked<[String]>([])
    private var readings: [AnyCancellable] = []

    init(_ backend: BackendServer) throws {
      let recorder = RunRecorder(lines: lines, prerequisite: "AccessToken")
      self.recorder = recorder
      let onEvent: @Sendable (HTTPEvent) -> Void = { [calls] event in
        recorder.write(event)
        if case .began = event.kind, event.operation != "AccessToken" {
          calls.withLock { $0.append(event.requestID) }
        }
      }
      let (url, transport) = (try #require(URL(string: backend.url)), URLSessionTransport())
      weather = WeatherService(baseURL: url, key: "rebound", transport: transport, onEvent: onEvent)
      animals = AnimalService(baseURL: url, transport: transport, onEvent: onEvent)
      accounts = AuthenticationService(baseURL: url, transport: transport, onEvent: onEvent)
      log = AttemptLog(scheduler: .shared)
    }

    func openInspector() {
      readings = [lines.read { _ in }]
      calls.withLock { $0 = [] }
    }

    func load<Output, Failure: Error>(
      _ request: String,
      _ answers: AnyPublisher<Output, Failure>,
      retrying policy: RetryPolicy<Failure>? = nil
    ) async {
      let written = log.writingDown(
        request,
        answers,
        retrying: policy,
        success: { "\($0)" },
        failure: { "\($0)" }
      )
      for await _ in written.asResult().values {}
    }

    func save(
      _ app: Tab = .weather,
      _ inSwift: (RecordedRun, RunRecorder.Exchanges) -> RequestInSwift? = { run, _ in
        RequestInSwift(weather: run.request, key: "rebound")
      }
    ) throws -> SavedRun {
      let calls = Set(calls.withLock { $0 })
      let run = try #require(log.runs.last)
      let exchanges = try recorder.exchanges(of: calls)
      return try SavedRun(of: run, as: inSwift(run, exchanges), of: app, exchanges: exchanges, calls: calls.count)
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

  private let oslo = "GET /weather?city=Oslo"

  private func fail(_ backend: BackendServer, _ fault: String) async throws {
    let answer = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
    #expect(answer?.status == 201 || answer?.status == 200 || answer?.status == 204)
  }

  /// Runs the statements of the test, once more as code, with what was saved.
  private func reproduce(
    _ saved: SavedRun,
    _ program: @escaping @Sendable (Reproduction) async throws -> Void
  ) throws -> ReproducedFailure {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("saved-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // The system empties the folder above.
    let test = try saved.recorded.writeTest(into: folder) { saved.program }
    let archive = test.deletingLastPathComponent()
      .appendingPathComponent("\(test.deletingPathExtension().lastPathComponent.dropLast("Tests".count)).har")
    return try #require(throws: ReproducedFailure.self) {
      try ReboundHTTPTesting.reproduce(
        archive.path,
        seed: saved.recorded.seed,
        failure: saved.recorded.failure,
        decisions: saved.recorded.decisions,
        program
      )
    }
  }

  @Test(
    "a run that was retried and given up fails again after the same decisions, with a token older than the inspector"
  )
  func retried() async throws {
    try await withClient { client, backend in
      await client.load(oslo, client.weather.weather(at: .city("Oslo")))
      client.openInspector()
      try await fail(backend, #"{"path":"/weather","fault":"status","status":503,"times":5}"#)
      await client.load(
        oslo,
        client.weather.weather(at: .city("Oslo")),
        retrying: .weather(after: .constant(.milliseconds(1)))
      )
      let saved = try client.save()
      #expect(saved.recorded.decisions.count == 5)
      #expect(saved.recorded.decisions.first?.contains("retrying in … seconds") == true)
      let again = try reproduce(saved) { recorded in
        let service = WeatherService(baseURL: recorded.baseURL, key: "rebound", transport: recorded.transport)
        let policy = RetryPolicy.weather().onEvent { recorded.events.tell($0, of: "weather") }
        for try await _ in service.weather(at: .city("Oslo")).retry(policy).values {}
      }
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
      await client.load("GET /weather?latitude=59.9&longitude=10.7", client.weather.weather(at: place))
      let saved = try client.save()
      #expect(saved.recorded.decisions.isEmpty)
      #expect(saved.program.contains(".position(latitude: 59.9, longitude: 10.7)"))
      let again = try reproduce(saved) { recorded in
        let service = WeatherService(baseURL: recorded.baseURL, key: "rebound", transport: recorded.transport)
        for try await _ in service.weather(at: place).values {}
      }
      #expect(again.isAsRecorded, "\(again)")
    }
  }

  @Test("an animal that did not come fails to come again", arguments: [#""drop""#, #""status","status":503"#])
  func animal(fault: String) async throws {
    try await withClient { client, backend in
      client.openInspector()
      try await fail(backend, #"{"path":"/animals/random","fault":\#(fault),"times":1}"#)
      await client.load("GET /animals/random", client.animals.randomAnimal())
      let saved = try client.save(.animals) { _, _ in .randomAnimal }
      let again = try reproduce(saved) { recorded in
        let service = AnimalService(baseURL: recorded.baseURL, transport: recorded.transport)
        for try await _ in service.randomAnimal().values {}
      }
      #expect(again.isAsRecorded, "\(again)")
      try writeForScript(saved)
    }
  }

  @Test("the check of a name that was retried and given up fails again after the same decisions")
  func userNameCheck() async throws {
    try await withClient { client, backend in
      client.openInspector()
      try await fail(backend, #"{"path":"/isUserNameAvailable","fault":"status","status":503,"times":3}"#)
      await client.load(
        "GET /isUserNameAvailable?userName=some%2Bbody",
        client.accounts.isAvailable(userName: "some+body"),
        retrying: .userNameCheck(after: .constant(.milliseconds(1)))
      )
      let saved = try client.save(.signUp) { RequestInSwift(signUp: $0.request, $1) }
      #expect(saved.recorded.decisions.count == 3)
      #expect(saved.program.contains(#".isAvailable(userName: "some+body").retry(policy).values"#))
      let again = try reproduce(saved) { recorded in
        let service = AuthenticationService(baseURL: recorded.baseURL, transport: recorded.transport)
        let policy = RetryPolicy.userNameCheck().onEvent { recorded.events.tell($0, of: "signUp") }
        for try await _ in service.isAvailable(userName: "some+body").retry(policy).values {}
      }
      #expect(again.isAsRecorded, "\(again)")
      try writeForScript(saved)
    }
  }

  @Test("a sign-up that failed fails again with any password, and neither file has the one that was typed")
  func signUp() async throws {
    try await withClient { client, backend in
      client.openInspector()
      try await fail(backend, #"{"path":"/signUp","fault":"status","status":503,"retryAfter":"60","times":1}"#)
      let password = "correct horse battery 7!"
      await client.load(
        "POST /signUp",
        client.accounts.signUp(userName: "somebody", password: password, idempotencyKey: "once")
      )
      let saved = try client.save(.signUp) { RequestInSwift(signUp: $0.request, $1) }
      #expect(saved.program.contains(#".signUp(userName: "somebody", password: "…", idempotencyKey: "once").values"#))
      let files = String(decoding: try saved.archive(), as: UTF8.self)
      #expect(files.contains(#"\"userName\":\"somebody\""#))
      #expect(files.contains(#"\"password\":\"…\""#))
      #expect(!files.contains(password))
      let again = try reproduce(saved) { recorded in
        let service = AuthenticationService(baseURL: recorded.baseURL, transport: recorded.transport)
        for try await _ in service.signUp(userName: "somebody", password: "…", idempotencyKey: "once").values {}
      }
      #expect(again.isAsRecorded, "\(again)")
      try writeForScript(saved)
    }
  }

  @Test("a run that went well, and one of which not all was recorded, are refused with the reason")
  func refused() async throws {
    try await withClient { client, backend in
      client.openInspector()
      await client.load(oslo, client.weather.weather(at: .city("Oslo")))
      #expect {
        try client.save()
      } throws: {
        "\($0)".contains("has not failed")
      }
      try await fail(backend, #"{"path":"/weather","fault":"status","status":403,"times":1}"#)
      client.calls.withLock { $0 = ["0123456789abcdef"] }
      await client.load(oslo, client.weather.weather(at: .city("Oslo")))
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
      importing: saved.modules
    ) { saved.program }
  }
}
