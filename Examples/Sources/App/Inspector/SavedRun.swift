import Attempts
import Foundation
import Rebound
import ReboundHTTPTesting
import WebServer

/// A request of an app that has failed, as a Swift test that fails in the same way until the cause is mended.
struct SavedRun: Sendable {
  /// The failure, without secrets.
  let recorded: RecordedFailure
  /// The statements of the test.
  let program: String
  /// What they need.
  let modules: [String]

  /// Takes a failure down.
  ///
  /// - Parameters:
  ///   - run: The request.
  ///   - request: The request as the test sends it; `nil` if it can't be written down.
  ///   - app: Whose it is.
  ///   - exchanges: What went over the network for it.
  ///   - calls: How many calls it has made.
  /// - Throws: `HTTPError`, for the person who wants to save it, if it can't be replayed.
  init(
    of run: RecordedRun,
    as request: RequestInSwift?,
    of app: Tab,
    exchanges: RunRecorder.Exchanges,
    calls: Int
  ) throws {
    guard let failure = run.failure else {
      throw HTTPError(409, "This request has not failed: there is nothing that a test could reproduce.")
    }
    guard calls > 0, exchanges.callCount == calls, let request else {
      throw HTTPError(
        409,
        "Not all of this request went over the network while the inspector was open, so it can't be replayed."
      )
    }
    recorded = try RecordedFailure(
      request.name,
      failure: failure,
      archive: exchanges.archive(),
      decisions: run.decisions.map { PolicyEvent($0, source: app.rawValue, time: $0.elapsed) }
    )
    modules = ["Combine", "Rebound", request.module]
    let policy = run.isRetried ? request.policy : nil
    program = [
      "let service = \(request.service)",
      policy.map { "let policy = \($0).onEvent { recorded.events.tell($0, of: \(app.rawValue.debugDescription)) }" },
      "for try await _ in service.\(request.call)\(policy == nil ? "" : ".retry(policy)").values {}",
    ]
    .compactMap(\.self).joined(separator: "\n")
  }

  /// The test and its archive, in one file.
  func archive() throws -> Data {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("saved-run-\(UUID().uuidString)")
    // The system empties the folder above, should this fail.
    defer { try? FileManager.default.removeItem(at: folder) }
    let test = try recorded.writeTest(into: folder, importing: modules) { program }
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
}
