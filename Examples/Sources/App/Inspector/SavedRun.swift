import Attempts
import Foundation
import Rebound
import ReboundTesting
import WebServer

/// A request for the weather that has failed, as a Swift test that fails in the same way until the cause is mended.
struct SavedRun: Sendable {
  /// The failure, without secrets.
  let recorded: RecordedFailure
  /// The statements of the test.
  let program: String

  /// Takes a failure down.
  ///
  /// - Parameters:
  ///   - run: The request.
  ///   - exchanges: What went over the network for it.
  ///   - calls: How many calls it has made.
  ///   - key: The API key that the app begins with, which is no secret.
  /// - Throws: `HTTPError`, for the person who wants to save it, if it can't be replayed.
  init(of run: RecordedRun, exchanges: WeatherRecorder.Exchanges, calls: Int, key: String) throws {
    guard let failure = run.failure else {
      throw HTTPError(409, "This request has not failed: there is nothing that a test could reproduce.")
    }
    guard calls > 0, exchanges.callCount == calls else {
      throw HTTPError(
        409,
        "Not all of this request went over the network while the inspector was open, so it can't be replayed."
      )
    }
    guard let place = Self.place(of: run.request) else {
      throw HTTPError(409, "This is no request for the weather.")
    }
    recorded = try RecordedFailure(
      "weather \(place.name)",
      failure: failure,
      archive: exchanges.archive,
      decisions: run.decisions.map { PolicyEvent($0, source: Tab.weather.rawValue, time: $0.elapsed) }
    )
    let service = """
      let service = WeatherService(baseURL: recorded.baseURL, key: \(key.debugDescription), transport: recorded.transport)

      """
    program =
      service
      + (run.isRetried
        ? """
        let policy = RetryPolicy.weather().onEvent { recorded.events.tell($0, of: "weather") }
        for try await _ in service.weather(at: \(place.code)).retry(policy).values {}
        """
        : "for try await _ in service.weather(at: \(place.code)).values {}")
  }

  /// The test and its archive, in one file.
  func archive() throws -> Data {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("saved-run-\(UUID().uuidString)")
    // The system empties the folder above, should this fail.
    defer { try? FileManager.default.removeItem(at: folder) }
    let test = try recorded.writeTest(into: folder, importing: ["Combine", "Rebound", "Weather"]) { program }
    let name = test.deletingPathExtension().lastPathComponent.dropLast("Tests".count)
    return TarArchive([
      ("\(name)Tests.swift", try Data(contentsOf: test)),
      ("\(name).har", try Data(contentsOf: folder.appendingPathComponent("\(name).har"))),
    ]).data
  }

  /// The file as an answer that a browser saves.
  func response() throws -> Response {
    var response = Response(contentType: "application/x-tar", body: try archive())
    response.headers.add("Content-Disposition", #"attachment; filename="recorded-run.tar""#)
    return response
  }

  /// Where the weather was asked for, in words and in Swift: "GET /weather?city=Oslo".
  private static func place(of request: String) -> (name: String, code: String)? {
    guard let target = request.split(separator: " ").last, target.hasPrefix("/weather?"),
      let items = URLComponents(string: String(target))?.queryItems
    else { return nil }
    let values = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    if let city = values["city"] { return ("of \(city)", ".city(\(city.debugDescription))") }
    guard let latitude = values["latitude"].flatMap(Double.init),
      let longitude = values["longitude"].flatMap(Double.init)
    else { return nil }
    return ("at \(latitude), \(longitude)", ".position(latitude: \(latitude), longitude: \(longitude))")
  }
}
