import Combine
import Foundation
import Rebound
import ReboundHTTP
import StreamSupport

/// A transport that records what another one does into a file, and does it again without a network.
///
///     let cassette = try CassetteTransport(file, .recordMissing(URLSessionTransport()))
///     let client = WebAPIClient(baseURL: service, transport: cassette)
///     …
///     try cassette.save()
///
/// The file is an HTTP Archive (HAR 1.2), so that browsers and proxies open it, and what they export can be replayed. It
/// has what a HAR has no place for in fields that begin with an underscore: failures of the network, when each part of an
/// answer came, and bodies of requests that are no text.
///
/// - Secrets: No value that the redaction hides is kept: not of header fields, queries, forms, multipart forms and JSON, nor
///   in addresses that the answers hold. A replay hides the same before it compares, so requests find their recording
///   whatever the secret is then. A body that the program itself has compressed or encrypted is not looked into.
/// - Matching: A recording answers a request that no ``CassetteRule`` finds different from the recorded one. Those that
///   fit answer in their order, each once. A request that none fits fails as `TransportFailure.Kind.other`,
///   with a ``CassetteMiss`` that says which recording comes nearest, and what differs.
/// - Limits: A replay keeps the request's limits of size, and of time as far as it takes any.
/// - Bodies: The request's body is read to its end before it is sent or answered, on the thread that sends.
/// - Threading: May be used from any thread. A replay tells its events on the thread that sends, or where the source of time
///   where it takes time; a recorded transport tells them where it does.
public final class CassetteTransport: Transport, Sendable {
  private struct State {
    /// How often each recording of the tape has answered.
    var uses: [Int]
    var recorded: [CassetteRecorder] = []
  }

  /// What is done with a request.
  public enum Mode: Sendable {
    /// A recording answers, and nothing else ever does.
    case replay
    /// The other transport answers, and that is recorded; ``CassetteTransport/save()`` replaces what the file held.
    case record(any Transport)
    /// A recording answers where one fits, and where none does, the other transport, which is recorded and added to
    /// the file by ``CassetteTransport/save()``.
    case recordMissing(any Transport)
  }

  private let file: URL
  private let network: (any Transport)?
  private let tape: CassetteTape
  private let rules: [CassetteRule]
  private let repeatsLast: Bool
  private let redaction: Redaction
  private let time: TimeSource
  private let keepsPace: Bool

  private let state: Locked<State>

  /// Opens a file, or prepares one.
  ///
  /// - Parameters:
  ///   - file: Where the recordings are or will be. To record what is missing, it need not be there yet.
  ///   - mode: What is done with a request.
  ///   - rules: What of a request must be as it was recorded.
  ///   - repeatsLast: Whether the last recording that fits a request answers again once all that fit have.
  ///   - redaction: What must not be kept.
  ///   - time: Measures a recording, and lets a replay wait where it must.
  ///   - keepsPace: Whether a replay takes as long as the recording did, in the time of `time`; otherwise, what
  ///     was recorded comes at once.
  /// - Throws: ``CassetteFileError`` if the file is missing or not to be understood.
  public init(
    _ file: URL,
    _ mode: Mode = .replay,
    matching rules: [CassetteRule] = .standard,
    repeatingLast repeatsLast: Bool = false,
    redaction: Redaction = .standard,
    time: TimeSource = .current,
    keepingPace keepsPace: Bool = false
  ) throws(CassetteFileError) {
    switch mode {
    case .replay:
      network = nil
      tape = try CassetteTape(file, redaction)
    case .record(let transport):
      network = transport
      tape = CassetteTape()
    case .recordMissing(let transport):
      network = transport
      tape = FileManager.default.fileExists(atPath: file.path) ? try CassetteTape(file, redaction) : CassetteTape()
    }
    self.file = file
    self.rules = rules
    self.repeatsLast = repeatsLast
    self.redaction = redaction
    self.time = time
    self.keepsPace = keepsPace
    state = Locked(State(uses: Array(repeating: 0, count: tape.recordings.count)))
  }

  /// Answers a request with what was recorded, or sends it and records the answer, as the mode says.
  public func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    let body: Data
    do { body = try CassetteTransport.read(request.body) } catch {
      return play([(.zero, .failed(TransportFailure(.body, underlying: error)))], for: request, to: receiver)
    }
    let sent = CassetteRequest(request, body: body, redaction)
    let fitting = tape.recordings.indices.filter { index in
      rules.allSatisfy { $0.differences(sent, tape.recordings[index].request).isEmpty }
    }
    if let recording = take(fitting) {
      return play(recording.timeline(for: request), for: request, to: receiver)
    }
    if let network { return record(request, body, through: network, telling: receiver) }
    let miss = CassetteMiss(of: sent, in: tape.recordings.map(\.request), rules, fitting: fitting, file: file)
    let failure = TransportFailure(.other, detail: "\(miss)", underlying: miss)
    return play([(.zero, .failed(failure))], for: request, to: receiver)
  }

  /// What was recorded and has not answered, in order.
  public var unused: [CassetteRequest] {
    state.withLock { state in state.uses.indices.filter { state.uses[$0] == 0 } }.map { tape.recordings[$0].request }
  }

  /// Makes sure that every recording has answered.
  ///
  /// - Throws: ``UnusedRecordings`` if one has not.
  public func checkAllUsed() throws(UnusedRecordings) {
    let unused = unused
    guard unused.isEmpty else { throw UnusedRecordings(requests: unused, file: file) }
  }

  /// Writes what was recorded to the file, and makes the folders that it lies in; a replay writes nothing.
  ///
  /// Exchanges come in the order in which they began. One that was cancelled, or is still under way, is kept as far as it
  /// had come, and its replay falls silent there. The file is replaced as a whole or not at all.
  ///
  /// - Throws: What the file system says.
  public func save() throws {
    guard network != nil else { return }
    let entries = state.withLock { $0.recorded }.map { $0.entry(redaction) }
    let data = try tape.encoded(adding: entries)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file, options: .atomic)
  }

  private func take(_ fitting: [Int]) -> CassetteRecording? {
    state.withLock { state in
      guard let index = fitting.first(where: { state.uses[$0] == 0 }) ?? (repeatsLast ? fitting.last : nil) else {
        return nil
      }
      state.uses[index] += 1
      return tape.recordings[index]
    }
  }

  private func play(
    _ timeline: [CassetteRecording.Moment],
    for request: TransportRequest,
    to receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    let schedule = CassetteSchedule(timeline, limits: request.limits, keepingPace: keepsPace)
    let exchange = CassetteExchange(schedule, in: time, telling: receiver)
    exchange.begin()
    return exchange
  }

  private func record(
    _ request: TransportRequest,
    _ body: Data,
    through network: any Transport,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    var message = request
    if case .stream(let stream) = request.body {
      // It may be read once only, and has been. Its length stays unknown if it was, so that it goes over the wire as before.
      message.body = .stream(BodyStream(length: stream.length) { try TransportBody.data(body).open() })
    }
    let start = time.now
    let recorder = CassetteRecorder(request, body: body, at: HTTPDate(since1970: time.wallClock))
    state.withLock { $0.recorded.append(recorder) }
    return network.start(message) { [time] event in
      recorder.write(event, at: time.now - start)
      receiver(event)
    }
  }

  private static func read(_ body: TransportBody) throws -> Data {
    let reader = try body.open()
    var all = Data()
    while case let piece = try reader.read(upTo: 65_536), !piece.isEmpty { all += piece }
    return all
  }
}
