import Foundation
import Rebound
import StreamSupport

/// Keeps the attempts of calls, for a file that browsers and proxies open (HTTP Archive 1.2), without secrets.
///
///     let log = HARLog()
///     let client = client.onEvent(log.write)
///     …
///     try log.export().write(to: file)
///
/// Every attempt is an entry, a retried call has several, one that failed has the status 0 and says why in its comment.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it.
public final class HARLog: @unchecked Sendable {
  private struct Pending {
    let message: TransportRequest
    let redaction: Redaction
    let start: HTTPDate
    let elapsed: Duration
  }

  private let limit: Int
  private let wallClock: @Sendable () -> HTTPDate
  private let lock = Lock()
  /// By the id of the call, which has one attempt at a time.
  private var pending: [String: Pending] = [:]
  private var entries: [HAR.Entry] = []

  /// Makes an empty log.
  ///
  /// - Parameters:
  ///   - limit: How many attempts are kept, the last ones.
  ///   - wallClock: Says when an attempt begins.
  public init(limit: Int = 1_000, wallClock: @escaping @Sendable () -> HTTPDate = ClientTime.deviceClock) {
    self.limit = max(limit, 1)
    self.wallClock = wallClock
  }

  /// Keeps what belongs to an attempt; made to be handed to ``WebAPIClient/onEvent(_:)``.
  public func write(_ event: HTTPEvent) {
    switch event.kind {
    case .attemptBegan(_, let message):
      let attempt = Pending(message: message, redaction: event.redaction, start: wallClock(), elapsed: event.elapsed)
      lock.withLock { pending[event.requestID] = attempt }
    case .attemptSucceeded(let number, let response):
      end(event, number, HAR.Response(response.head, response.body, event.redaction), failure: nil)
    case .attemptFailed(let number, let failure):
      let response = failure.head.map { HAR.Response($0, failure.body, event.redaction) }
      end(event, number, response ?? .none, failure: "\(failure)")
    case .failed, .cancelled:
      lock.withLock { pending[event.requestID] = nil }
    default:
      break
    }
  }

  private func end(_ event: HTTPEvent, _ number: Int, _ response: HAR.Response, failure: String?) {
    let attempt = lock.withLock { pending.removeValue(forKey: event.requestID) }
    guard let attempt else { return }
    let time = (event.elapsed - attempt.elapsed).inSeconds * 1_000
    let entry = HAR.Entry(
      startedDateTime: HAR.text(attempt.start),
      time: time,
      request: HAR.Request(attempt.message, attempt.redaction),
      response: response,
      timings: HAR.Timings(wait: time),
      comment: failure ?? "\(event.operation), attempt \(number), request \(event.requestID)"
    )
    lock.withLock {
      if entries.count == limit { entries.removeFirst() }
      entries.append(entry)
    }
  }

  /// The attempts as a file of HTTP Archive 1.2.
  public func export() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(HAR(log: .init(entries: lock.withLock { entries })))
  }
}

/// The parts of an HTTP Archive that are filled in.
private struct HAR: Encodable {
  struct Log: Encodable {
    var version = "1.2"
    var creator = Creator()
    let entries: [Entry]
  }

  struct Creator: Encodable {
    var name = "Rebound"
    var version = "1"
  }

  struct Entry: Encodable {
    let startedDateTime: String
    let time: Double
    let request: Request
    let response: Response
    var cache: [String: String] = [:]
    let timings: Timings
    let comment: String
  }

  struct Timings: Encodable {
    var send = 0.0
    let wait: Double
    var receive = 0.0
  }

  struct Pair: Encodable {
    let name: String
    let value: String
  }

  struct Request: Encodable {
    let method: String
    let url: String
    var httpVersion = "HTTP/1.1"
    var cookies: [Pair] = []
    let headers: [Pair]
    let queryString: [Pair]
    let postData: Content?
    var headersSize = -1
    let bodySize: Int64

    init(_ message: TransportRequest, _ redaction: Redaction) {
      method = message.method.rawValue
      url = redaction.url(message.url)
      headers = redaction.headers(message.headers).map { Pair(name: $0.name, value: $0.value) }
      let items = URLComponents(url: message.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
      queryString = items.map { item in
        Pair(name: item.name, value: redaction.hides(parameter: item.name) ? redaction.replacement : item.value ?? "")
      }
      bodySize = message.body.length ?? -1
      if case .data(let data) = message.body {
        let type = message.headers["Content-Type"]
        postData = Content(mimeType: type ?? "", text: redaction.body(data, type: type), size: nil)
      } else {
        postData = nil
      }
    }
  }

  struct Response: Encodable {
    let status: Int
    var statusText = ""
    var httpVersion = "HTTP/1.1"
    var cookies: [Pair] = []
    let headers: [Pair]
    let content: Content
    let redirectURL: String
    var headersSize = -1
    let bodySize: Int

    /// There was no answer.
    static let none = Response(
      status: 0,
      headers: [],
      content: Content(mimeType: "", text: nil, size: 0),
      redirectURL: "",
      bodySize: -1
    )

    init(status: Int, headers: [Pair], content: Content, redirectURL: String, bodySize: Int) {
      self.status = status
      self.headers = headers
      self.content = content
      self.redirectURL = redirectURL
      self.bodySize = bodySize
    }

    init(_ head: ResponseHead, _ body: Data, _ redaction: Redaction) {
      let type = head.headers["Content-Type"]
      self.init(
        status: head.status,
        headers: redaction.headers(head.headers).map { Pair(name: $0.name, value: $0.value) },
        content: Content(mimeType: type ?? "", text: redaction.body(body, type: type), size: body.count),
        redirectURL: head.headers["Location"].flatMap { URL(string: $0) }.map(redaction.url) ?? "",
        bodySize: body.count
      )
    }
  }

  struct Content: Encodable {
    let mimeType: String
    let text: String?
    let size: Int?
  }

  let log: Log

  /// A moment as ISO 8601 has it.
  static func text(_ date: HTTPDate) -> String {
    Date(timeIntervalSince1970: TimeInterval(date.secondsSinceEpoch)).formatted(.iso8601)
  }
}
