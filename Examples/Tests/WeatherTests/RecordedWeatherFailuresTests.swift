import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@testable import Weather

/// Failures of the weather's client over real sockets, which become tests that fail in the same way.
///
/// `scripts/reproductions` has this suite write the tests into a folder (REBOUND_REPRODUCTIONS), builds them as a package of their
/// own, and counts those that are red.
@Suite("recorded failures of the weather's client")
struct RecordedWeatherFailuresTests {
  /// What the service does to a request for the weather, and what it is called.
  private struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let fault: Fault
    var testDescription: String { name }

    init(_ name: String, _ fault: Fault) {
      (self.name, self.fault) = (name, fault)
    }

    init(status: Int, fields: [String] = []) {
      self.init(
        "weather answered by \(status)\(fields.isEmpty ? "" : " with \(fields[0])")",
        .status(status, fields: fields)
      )
    }
  }

  private static let cases: [Case] =
    [400, 403, 404, 406, 408, 409, 410, 413, 418, 422, 425, 429, 500, 501, 502, 503, 504, 511].map { Case(status: $0) }
    + [
      Case(status: 429, fields: ["Retry-After: 7"]), Case(status: 503, fields: ["Retry-After: 120"]),
      Case("weather without members", .answer("{}", fields: ["Content-Type: application/json"])),
      Case("weather that is a list", .answer("[1, 2]", fields: ["Content-Type: application/json"])),
      Case("weather cut off", .answer(#"{"city": "Ro"#, fields: ["Content-Type: application/json"])),
      Case("weather that is a page", .answer("<html>Sign in</html>", fields: ["Content-Type: text/html"])),
      Case("weather closed in the body", .closeInBody), Case("weather closed after the head", .closeAfterHead),
      Case("weather closed in a chunk", .closeInChunk), Case("weather without an answer", .emptyReply),
      Case("weather reset before the head", .resetBeforeHead), Case("weather that is not HTTP", .notHTTP),
    ]

  private struct NothingWentWrong: Error {}

  /// The statements that failed, once as code and once as text.
  private static func load(_ transport: any Transport, _ baseURL: URL) async throws {
    let service = WeatherService(baseURL: baseURL, key: "rebound", transport: transport)
    for try await _ in service.weather(at: .city("Rome")).values {}
  }

  private static let statements = """
    let service = WeatherService(baseURL: recorded.baseURL, key: "rebound", transport: recorded.transport)
    for try await _ in service.weather(at: .city("Rome")).values {}
    """

  /// What a client meets: a token, and what the case says.
  private static func record(_ fault: Fault, in file: URL) async throws -> any Error {
    let server = try MisbehavingServer()
    server.program(
      "/token",
      .answer(#"{"accessToken": "secret", "expiresInSeconds": 60}"#, fields: ["Content-Type: application/json"])
    )
    server.program("/weather", fault)
    let cassette = try CassetteTransport(file, .record(URLSessionTransport()))
    do {
      try await load(cassette, server.url(""))
      throw NothingWentWrong()
    } catch {
      try cassette.save()
      return error
    }
  }

  @Test("what failed over the network fails again from its recording, in the same words", arguments: cases)
  private func again(recorded: Case) async throws {
    let environment = ProcessInfo.processInfo.environment["REBOUND_REPRODUCTIONS"]
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("reproductions-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: scratch) }  // The system empties the folder above.
    let folder = environment.map { URL(fileURLWithPath: $0) } ?? scratch
    let archive = scratch.appendingPathComponent("recording.har")
    let failure = try await Self.record(recorded.fault, in: archive)
    #expect(failure is WeatherFailure)
    let written = try RecordedFailure(recorded.name, failure: failure, archive: Data(contentsOf: archive))
    let test = try written.writeTest(into: folder, importing: ["Combine", "Weather"]) { Self.statements }
    let name = test.deletingPathExtension().lastPathComponent.dropLast("Tests".count)
    let again = try #require(throws: ReproducedFailure.self) {
      try reproduce(folder.appendingPathComponent("\(name).har").path, failure: written.failure) {
        try await Self.load($0.transport, $0.baseURL)
      }
    }
    #expect(again.isAsRecorded, "\(again)")
  }
}
