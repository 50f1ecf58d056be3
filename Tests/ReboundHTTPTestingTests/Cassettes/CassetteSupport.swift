import Foundation
import ReboundHTTP
import ReboundTesting
import StreamSupport

/// A folder of its own for each test, removed in the end.
final class CassetteFolder: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cassettes-\(UUID().uuidString)")

  var file: URL { folder.appending(path: "deeper/weather.har") }

  deinit {
    // Nothing depends on it, and the system empties the folder above.
    try? FileManager.default.removeItem(at: folder)
  }

  func write(_ text: String) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
}

/// What a transport tells, a line each, with the time since this was made.
///
/// Unchecked, because the lock guards all that changes.
final class EventLines: @unchecked Sendable {
  private let scheduler: TestScheduler
  private let start: Duration
  private let lock = Lock()
  private var log: [String] = []
  private var lastFailure: TransportFailure?

  init(on scheduler: TestScheduler) {
    self.scheduler = scheduler
    start = scheduler.elapsed
  }

  func write(_ event: TransportEvent) {
    let line =
      switch event {
      case .sent(let count): "sent \(count)"
      case .head(let head):
        (["head \(head.status)"]
          + head.headers.filter { $0.name.lowercased() != "content-length" }.map { "\($0.name)=\($0.value)" })
          .joined(separator: " ")
      case .chunk(let chunk): "chunk \(String(validating: chunk, as: UTF8.self) ?? "\(Array(chunk))")"
      case .finished: "finished"
      case .failed(let failure): "failed: \(failure)"
      }
    let text = "\(scheduler.elapsed - start): \(line)"
    lock.withLock {
      log.append(text)
      if case .failed(let failure) = event { lastFailure = failure }
    }
  }

  var lines: [String] { lock.withLock { log } }
  var failure: TransportFailure? { lock.withLock { lastFailure } }

  static func withoutTimes(_ lines: [String]) -> [String] {
    lines.map { String($0.split(separator: ": ", maxSplits: 1).last ?? "") }
  }

  /// Sends a request, and lets time run until nothing waits.
  static func run(_ transport: some Transport, _ request: TransportRequest, _ scheduler: TestScheduler) -> EventLines {
    let log = EventLines(on: scheduler)
    _ = transport.start(request, telling: log.write)
    while let due = scheduler.nextDue { scheduler.advance(to: due) }
    return log
  }
}

/// Every kind of failure that there is.
enum EveryKind {
  static let all: [TransportFailure.Kind] =
    [
      .offline, .dns, .connect, .reset, .truncated, .protocol, .cancelled, .tooManyRedirects, .tooLarge, .body, .other,
      .timeout(.connect), .timeout(.idle), .timeout(.total),
    ]
    + [.untrusted, .expired, .notYetValid, .wrongHost, .revoked, .notPinned, .clientCertificate, .handshake, .other]
    .map { .tls($0) }
}

extension URL {
  static var service: URL {
    guard let url = URL(string: "https://api.example") else { preconditionFailure("a constant that is a URL") }
    return url
  }
}

extension TransportRequest {
  /// A request without limits.
  static func sample(
    _ method: HTTPMethod = .get,
    _ path: String = "/",
    _ headers: HTTPHeaders = [:],
    body: TransportBody = .none,
    limits: TransportLimits = .none
  ) -> TransportRequest {
    let url = URL(string: "https://api.example\(path)") ?? .service
    return TransportRequest(url, method: method, headers: headers, body: body, limits: limits)
  }

  static func sample(_ path: String, _ headers: HTTPHeaders = [:]) -> TransportRequest {
    sample(.get, path, headers)
  }

  static func sample(
    _ method: HTTPMethod,
    _ path: String = "/",
    _ headers: HTTPHeaders = [:],
    body: String
  ) -> TransportRequest {
    sample(method, path, headers, body: .data(Data(body.utf8)))
  }
}
