import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

/// Two caches over one folder, as two processes have it, under many schedules.
@Suite struct CacheExplorationTests {
  private struct Value: Request {
    let name: String
    var path: RequestPath { "values/\(name)" }
    var parser: ResponseParser<String> { .text }
  }

  private struct Change: Request {
    let name: String
    var method: HTTPMethod { .put }
    var path: RequestPath { "values/\(name)" }
    typealias Response = NoContent
  }

  /// Counts how often each value was changed.
  private final class Service: Sendable {
    private let versions = Locked<[String: Int]>([:])

    func answer(_ request: TransportRequest) -> ScriptedTransport.Step {
      let name = request.url.lastPathComponent
      let version = versions.withLock { versions in
        if request.method == .put { versions[name, default: 0] += 1 }
        return versions[name, default: 0]
      }
      let headers: HTTPHeaders = ["Cache-Control": "max-age=100000", "Content-Type": "text/plain"]
      return request.method == .put ? .response(204) : .response(200, headers, Data("\(name) \(version)".utf8))
    }
  }

  @Test func eachAnswerIsOneOfItsRequestAndNoneThatWasWrittenToComesBack() throws {
    try Exploration.explore(quarter: 0) {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rebound-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let service = Service()
      let transport = ScriptedTransport(
        [.answering { service.answer($0) }],
        repeatingLast: true,
        time: TimeSource.current
      )
      let failures = Locked<[String]>([])
      let caches = (0..<2).map { _ in
        HTTPCache(storage: .folder(folder, maxEntries: 8)) { failure in
          failures.withLock { $0.append("\(failure)") }
        }
      }
      let clients = caches.map { cache in
        WebAPIClient(
          baseURL: URL(string: "https://values.example"),
          transport: transport,
          middleware: [Caching(in: cache)],
          deliveringOn: nil
        )
      }
      let names = ["a", "b", "c"]
      for version in 0..<2 {
        let answers = try await Exploration.crowd(6) { number in
          if number == 3 { caches[number % 2].releaseMemory() }
          return try await clients[number % 2].value(of: Value(name: names[number % 3]))
        }
        for case (let number, .success(let answer)) in answers.enumerated() {
          try requireEqual(answer, "\(names[number % 3]) \(version)")
        }
        for cache in caches { await cache.flush() }
        for (number, name) in names.enumerated() { _ = try await clients[number % 2].value(of: Change(name: name)) }
        for cache in caches { await cache.flush() }
      }
      try requireEqual(failures.withLock { $0 }, [])
    }
  }
}
