import Foundation
import ReboundHTTP

/// What a file holds.
struct CassetteTape: Sendable {
  let recordings: [CassetteRecording]
  /// All that the file says, also what means nothing here.
  private let archive: JSONValue

  /// Makes a tape with nothing on it.
  init() {
    recordings = []
    archive = .null
  }

  init(_ file: URL, _ redaction: Redaction) throws(CassetteFileError) {
    let data: Data
    do { data = try Data(contentsOf: file) } catch {
      throw CassetteFileError(
        file: file,
        problem: "cannot be read (\(error)). Record it first, with .record(transport)"
      )
    }
    let entries: [HAR.Entry]
    do {
      archive = try JSONDecoder().decode(JSONValue.self, from: data)
      entries = try JSONDecoder().decode(HAR.self, from: data).log.entries
    } catch {
      throw CassetteFileError(file: file, problem: "is no HTTP Archive: \(error). Record it anew")
    }
    var recordings: [CassetteRecording] = []
    for (index, entry) in entries.enumerated() {
      do { recordings.append(try CassetteRecording(entry, redaction)) } catch {
        let problem = "has a recording \(index + 1) that cannot be replayed: \(error). Record it anew"
        throw CassetteFileError(file: file, problem: problem)
      }
    }
    self.recordings = recordings
  }

  /// The file with further recordings behind those it had; whatever else it says stays as it is.
  func encoded(adding entries: [HAR.Entry]) throws -> Data {
    let added = HAR(entries)
    guard var root = archive.members, var log = root["log"]?.members else { return try added.encoded() }
    let new = try JSONDecoder().decode(JSONValue.self, from: added.encoded())
    log["entries"] = .array((log["entries"]?.elements ?? []) + (new["log"]?["entries"]?.elements ?? []))
    root["log"] = .object(log)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(JSONValue.object(root))
  }
}

/// One exchange as it was recorded.
struct CassetteRecording: Sendable {
  /// What is told, and when since the start.
  typealias Moment = (time: Duration, event: TransportEvent)

  let request: CassetteRequest
  private let head: (status: Int, headers: HTTPHeaders)?
  /// `nil` if the file lacks it.
  private let body: Data?
  private let failure: TransportFailure?
  private let events: [HAR.Event]
  /// Whether it is known how far the request's body had been sent.
  private let knowsProgress: Bool

  init(_ entry: HAR.Entry, _ redaction: Redaction) throws(HAR.UndecodableBody) {
    request = try CassetteRequest(entry.request, redaction)
    let answer = entry.response
    var headers = HAR.headers(answer.headers)
    if let location = answer.redirectURL, !location.isEmpty, !headers.contains(name: "Location") {
      headers["Location"] = location
    }
    head = answer.status == 0 ? nil : (answer.status, headers)
    let content = try answer.content?.data() ?? Data()
    let hasNoBody = request.method == .head || answer.status == 204 || answer.status == 304
    // Browsers may say how long a body was, and not have it; one without a size either is empty.
    let isMissing = answer.content?.text == nil && (answer.content?.size ?? 0) > 0 && !hasNoBody
    body = isMissing ? nil : content
    failure = CassetteRecording.failure(of: entry)
    events = entry.events ?? CassetteRecording.events(of: entry, content.count)
    knowsProgress = entry.events != nil
  }

  private static func failure(of entry: HAR.Entry) -> TransportFailure? {
    if let failure = entry.failure { return failure.transportFailure }
    guard entry.response.status == 0, entry.events == nil else { return nil }
    let error = entry.response.error
    return TransportFailure(error.map(HAR.kind(ofChromeError:)) ?? .other, detail: error ?? entry.comment)
  }

  /// When what came, by the phases that a browser has measured.
  private static func events(of entry: HAR.Entry, _ count: Int) -> [HAR.Event] {
    let timings = entry.timings
    let phases = [timings?.blocked, timings?.dns, timings?.connect, timings?.send, timings?.wait]
    let wait = phases.reduce(0) { $0 + max($1 ?? 0, 0) }
    let end = max(entry.time ?? 0, wait)
    let head = entry.response.status == 0 ? [] : [HAR.Event(.head, time: wait)]
    let chunk = count == 0 ? [] : [HAR.Event(.chunk, time: end, bytes: Int64(count))]
    return head + chunk + [HAR.Event(.end, time: end)]
  }

  /// What was told, as for this request.
  func timeline(for request: TransportRequest) -> [Moment] {
    guard let body else {
      let detail = "the file does not have the body of this recording; export it with the content of the answers"
      return [(.zero, .failed(TransportFailure(.other, detail: detail)))]
    }
    var (moments, rest) = ([Moment](), body)
    let lastChunk = events.lastIndex { $0.kind == .chunk }
    for (index, event) in events.enumerated() {
      let time = Duration(milliseconds: event.time)
      switch event.kind {
      case .sent:
        moments.append((time, .sent(event.bytes ?? 0)))
      case .head:
        guard let head else { continue }
        if !knowsProgress, let length = request.body.length, length > 0 { moments.append((time, .sent(length))) }
        moments.append((time, .head(ResponseHead(status: head.status, headers: head.headers, url: request.url))))
      case .chunk:
        // Without its secrets, or edited by hand, the body may be longer or shorter than what came.
        let count = index == lastChunk ? rest.count : Int(clamping: max(event.bytes ?? 0, 0))
        let chunk = Data(rest.prefix(count))
        rest = rest.dropFirst(count)
        if !chunk.isEmpty { moments.append((time, .chunk(chunk))) }
      case .end:
        // A body that nobody had when it was recorded, written by hand since.
        if !rest.isEmpty, head != nil { moments.append((time, .chunk(Data(rest)))) }
        moments.append((time, failure.map { .failed($0) } ?? .finished))
      }
    }
    return moments
  }
}
