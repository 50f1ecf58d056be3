import Foundation

/// A file of HTTP Archive 1.2, as far as this package writes and reads it.
///
/// What it writes has all fields that the format demands. What it reads may lack most of them, and may have others: the
/// exports of browsers differ. Fields of this package's own begin with an underscore, as the format asks for.
///
/// Source: "HTTP Archive 1.2", https://w3c.github.io/web-performance/specs/HAR/Overview.html
package struct HAR: Codable, Sendable {
  package struct Log: Codable, Sendable {
    package var version: String? = "1.2"
    package var creator: Creator? = Creator()
    package var entries: [Entry]
  }

  package struct Creator: Codable, Sendable {
    package var name: String? = "Rebound"
    package var version: String? = "1"
  }

  /// One exchange.
  package struct Entry: Codable, Sendable {
    package var startedDateTime: String?
    /// In milliseconds.
    package var time: Double?
    package var request: Request
    package var response: Response
    package var cache: JSONValue? = .object([:])
    package var timings: Timings?
    package var comment: String?
    /// What the network did, where it failed.
    package var failure: Failure?
    /// What was told when; without an end if the exchange was cancelled.
    package var events: [Event]?

    enum CodingKeys: String, CodingKey {
      case startedDateTime, time, request, response, cache, timings, comment
      case failure = "_failure"
      case events = "_events"
    }

    package init(
      startedDateTime: String,
      time: Double,
      request: Request,
      response: Response,
      timings: Timings,
      comment: String? = nil,
      failure: Failure? = nil,
      events: [Event]? = nil
    ) {
      self.startedDateTime = startedDateTime
      self.time = time
      self.request = request
      self.response = response
      self.timings = timings
      self.comment = comment
      self.failure = failure
      self.events = events
    }
  }

  /// The phases of an exchange in milliseconds; -1 for one that there was not.
  package struct Timings: Codable, Sendable {
    package var blocked: Double?
    package var dns: Double?
    /// With the handshake of TLS.
    package var connect: Double?
    package var ssl: Double?
    package var send: Double?
    package var wait: Double?
    package var receive: Double?

    package init(send: Double = 0, wait: Double, receive: Double = 0) {
      self.send = send
      self.wait = wait
      self.receive = receive
    }

    /// - Parameters:
    ///   - timings: What the transport has measured, if it has; what is behind its first byte counts as receiving.
    ///   - total: What the whole exchange took.
    package init(_ timings: TransportTimings?, total: Double) {
      guard let timings, let first = timings.firstByte?.milliseconds else {
        self.init(wait: total)
        return
      }
      let lookup = timings.nameLookup?.milliseconds
      let handshaken = (timings.tls ?? timings.connect)?.milliseconds
      self.init(wait: max(first - (handshaken ?? lookup ?? 0), 0), receive: max(total - first, 0))
      dns = lookup
      connect = handshaken.map { max($0 - (lookup ?? 0), 0) }
      if let tls = timings.tls, let connect = timings.connect { ssl = max((tls - connect).milliseconds, 0) }
    }
  }

  package struct Pair: Codable, Sendable {
    package var name: String
    package var value: String?
  }

  package struct Request: Codable, Sendable {
    package var method: String
    package var url: String
    package var httpVersion: String? = "HTTP/1.1"
    package var cookies: JSONValue? = .array([])
    package var headers: [Pair]?
    package var queryString: [Pair]?
    package var postData: PostData?
    package var headersSize: Int64? = -1
    package var bodySize: Int64?
  }

  /// The body of a request.
  package struct PostData: Codable, Sendable {
    package var mimeType: String?
    package var text: String?
    /// What browsers write in the place of the text of a form.
    package var params: [Pair]?
    /// "base64" if the body is no text; the format knows this for answers only.
    package var encoding: String?

    enum CodingKeys: String, CodingKey {
      case mimeType, text, params
      case encoding = "_encoding"
    }
  }

  package struct Response: Codable, Sendable {
    /// Zero if there was no answer.
    package var status: Int
    package var statusText: String? = ""
    package var httpVersion: String? = "HTTP/1.1"
    package var cookies: JSONValue? = .array([])
    package var headers: [Pair]?
    package var content: Content?
    package var redirectURL: String?
    package var headersSize: Int64? = -1
    package var bodySize: Int64?
    /// What Chrome says in the place of an answer: "net::ERR_CONNECTION_REFUSED".
    package var error: String?

    enum CodingKeys: String, CodingKey {
      case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
      case error = "_error"
    }
  }

  /// The body of an answer.
  package struct Content: Codable, Sendable {
    package var size: Int64?
    package var mimeType: String?
    package var text: String?
    /// "base64" if the body is no text.
    package var encoding: String?
  }

  /// What a transport says about a failure.
  package struct Failure: Codable, Sendable {
    package var kind: String
    package var bytesSent: Int64?
    package var bytesReceived: Int64?
    package var isUnsent: Bool?
    package var isUnprocessed: Bool?
    package var redirects: Int?
    package var detail: String?
  }

  /// One event of a transport.
  package struct Event: Codable, Sendable {
    package enum Kind: String, Codable, Sendable {
      case sent, head, chunk, end
    }

    package var kind: Kind
    /// In milliseconds since the start.
    package var time: Double
    /// How many bytes were sent so far, or have come.
    package var bytes: Int64?

    package init(_ kind: Kind, time: Double, bytes: Int64? = nil) {
      self.kind = kind
      self.time = time
      self.bytes = bytes
    }
  }

  package var log: Log

  package init(_ entries: [Entry]) {
    log = Log(entries: entries)
  }

  /// The file, for people to read as well.
  package func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// A moment as ISO 8601 has it.
  package static func text(_ date: HTTPDate) -> String {
    Date(timeIntervalSince1970: TimeInterval(date.secondsSinceEpoch)).formatted(.iso8601)
  }
}

extension Duration {
  /// As a HAR counts.
  package var milliseconds: Double {
    let (seconds, attoseconds) = components
    // In whole nanoseconds: no binary fraction is 1e-15, and what is ten milliseconds should read so.
    return Double(seconds) * 1_000 + Double(attoseconds / 1_000_000_000) / 1_000_000
  }
}
