import Combine
import Foundation
import Rebound
import ReboundHTTP
import StreamSupport

/// A transport that answers as a script says, and writes down what was sent.
///
///     let transport = ScriptedTransport([.refused, .timeout, .ok(#"{}"#)], time: scheduler.time)
///     let client = WebAPIClient(
///       baseURL: service,
///       transport: transport,
///       middleware: [retrying],  // two retries, two seconds apart
///       deliveringOn: nil,
///       time: scheduler.time
///     )
///     client.publisher(for: Forecast()).subscribe(recorder)  // a Request of yours
///     scheduler.advance(by: .seconds(4))
///     #expect(transport.calls.map(\.time) == [.zero, .seconds(2), .seconds(4)])
///
/// Each exchange takes the next step of the script; when there is none left, it fails with a failure that says so.
public final class ScriptedTransport: Transport, Sendable {
  private struct State {
    var script: [Step]
    var position = 0
    var log: [Call] = []

    mutating func nextStep(repeatingLast repeatsLast: Bool) -> Step? {
      // Those that are added later follow the last that was taken, however often it was repeated or missed.
      guard position < script.count else { return repeatsLast ? script.last : nil }
      defer { position += 1 }
      return script[position]
    }
  }

  /// What one exchange does.
  public struct Step: Sendable {
    fileprivate enum Content: Sendable {
      case response(status: Int, headers: HTTPHeaders, chunks: [Data])
      case failure(TransportFailure, afterHead: ResponseHead?, chunks: [Data])
      case silence
      case computed(@Sendable (TransportRequest) -> Step)
    }

    fileprivate let content: Content
    fileprivate var latency = Duration.zero
    /// Between one chunk and the next.
    fileprivate var pause = Duration.zero
    fileprivate var timings: TransportTimings?

    /// An answer.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - body: The body.
    public static func response(_ status: Int, _ headers: HTTPHeaders = [:], _ body: Data = Data()) -> Step {
      Step(content: .response(status: status, headers: headers, chunks: body.isEmpty ? [] : [body]))
    }

    /// Status 200 with a body of JSON.
    public static func ok(_ json: String, _ headers: HTTPHeaders = [:]) -> Step {
      status(200, json, headers)
    }

    /// A status with a body of JSON.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - json: The body.
    ///   - headers: Header fields, besides the content type.
    ///   - seconds: What the Retry-After field says.
    public static func status(
      _ status: Int,
      _ json: String = "",
      _ headers: HTTPHeaders = [:],
      retryAfter seconds: Int? = nil
    ) -> Step {
      var fields = headers
      if !json.isEmpty, !fields.contains(name: "Content-Type") { fields["Content-Type"] = "application/json" }
      if let seconds { fields["Retry-After"] = "\(seconds)" }
      return response(status, fields, Data(json.utf8))
    }

    /// A redirect.
    public static func redirect(_ status: Int = 302, to location: String) -> Step {
      response(status, ["Location": location])
    }

    /// A page for a browser in place of an answer.
    public static let captivePortal = response(
      200,
      ["Content-Type": "text/html"],
      Data("<!DOCTYPE html><html><body>Please sign in.</body></html>".utf8)
    )

    /// An answer whose body comes in pieces.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - chunks: The pieces.
    ///   - pause: How long it takes from one to the next.
    public static func chunks(
      _ status: Int = 200,
      _ headers: HTTPHeaders = [:],
      _ chunks: [Data],
      every pause: Duration = .zero
    ) -> Step {
      var step = Step(content: .response(status: status, headers: headers, chunks: chunks))
      step.pause = pause
      return step
    }

    /// The network fails.
    public static func failure(_ kind: TransportFailure.Kind) -> Step { failure(TransportFailure(kind)) }

    /// The network fails.
    public static func failure(_ failure: TransportFailure) -> Step {
      Step(content: .failure(failure, afterHead: nil, chunks: []))
    }

    /// The answer begins, and the network fails.
    ///
    /// - Parameters:
    ///   - failure: How it fails.
    ///   - head: What came before.
    ///   - chunks: What came of the body.
    public static func failure(
      _ failure: TransportFailure,
      after head: ResponseHead,
      _ chunks: [Data] = []
    ) -> Step {
      Step(content: .failure(failure, afterHead: head, chunks: chunks))
    }

    /// There is no network.
    public static let offline = failure(.offline)
    /// Nothing comes in time.
    public static let timeout = failure(.timeout(.idle))
    /// The connection is refused.
    public static let refused = failure(.connect)
    /// The connection breaks.
    public static let reset = failure(.reset)
    /// Nothing ever comes.
    ///
    /// Only the total limit of the request ends it, and a cancel; the limit where the transport has a time.
    public static let silence = Step(content: .silence)

    /// What the request calls for.
    public static func answering(_ answer: @escaping @Sendable (TransportRequest) -> Step) -> Step {
      Step(content: .computed(answer))
    }

    /// The same step, this much later; needs a source of time.
    public func after(_ latency: Duration) -> Step {
      var copy = self
      copy.latency = latency
      return copy
    }

    /// The same answer, whose head tells how long its parts took, if the request asks for that; a failure tells none.
    public func timed(_ timings: TransportTimings) -> Step {
      var copy = self
      copy.timings = timings
      return copy
    }
  }

  /// An exchange that took place.
  public struct Call: Sendable {
    /// What was sent.
    public let request: TransportRequest
    /// What was sent along, read to its end; `nil` if it could not be read.
    public let body: Data?
    /// When it began, since the transport was made.
    public let time: Duration
    /// Whether it was cancelled before its end.
    public fileprivate(set) var isCancelled = false
    /// Whether it is to pause; a script goes on all the same.
    public fileprivate(set) var isPaused = false
  }

  private let time: TimeSource?
  private let start: Duration
  private let state: Locked<State>
  private let repeatsLast: Bool

  /// Makes a transport that answers at once, on the thread that sends.
  ///
  /// - Parameters:
  ///   - script: What each exchange does, in order.
  ///   - repeatsLast: Whether the last step answers all exchanges after it.
  public init(_ script: [Step], repeatingLast repeatsLast: Bool = false) {
    state = Locked(State(script: script))
    self.repeatsLast = repeatsLast
    time = nil
    start = .zero
  }

  /// Makes a transport whose answers take their time.
  ///
  /// - Parameters:
  ///   - script: What each exchange does, in order.
  ///   - repeatsLast: Whether the last step answers all exchanges after it.
  ///   - time: What the latencies take, the calls are noted in, and answers come in: none before time is advanced.
  public init(_ script: [Step], repeatingLast repeatsLast: Bool = false, time: TimeSource) {
    state = Locked(State(script: script))
    self.repeatsLast = repeatsLast
    self.time = time
    start = time.now
  }

  /// What was sent, in order.
  public var calls: [Call] { state.withLock { $0.log } }

  /// How many exchanges were begun.
  public var count: Int { calls.count }

  /// Adds steps to the end of the script: what is begun when the steps before are used up gets them, and the last of them is the
  /// one that is repeated, if one is.
  public func append(_ steps: Step...) {
    state.withLock { $0.script += steps }
  }

  /// Begins the next exchange of the script.
  public func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    let body = ScriptedTransport.read(request.body)
    let now = time.map { $0.now - start } ?? .zero
    let (number, step) = state.withLock { state in
      state.log.append(Call(request: request, body: body, time: now))
      return (state.log.count - 1, state.nextStep(repeatingLast: repeatsLast))
    }
    let exchange = ScriptedExchange(receiver) { [weak self] change in
      self?.state.withLock { change(&$0.log[number]) }
    }
    let missing = TransportFailure(.other, detail: "the script has no step for exchange \(number + 1)")
    play(step ?? .failure(missing), for: request, to: exchange)
    return exchange
  }

  private static func read(_ body: TransportBody) -> Data? {
    guard let reader = try? body.open() else { return nil }
    var all = Data()
    while let piece = try? reader.read(upTo: 65_536) {
      if piece.isEmpty { return all }
      all += piece
    }
    return nil
  }

  private func play(_ step: Step, for request: TransportRequest, to exchange: ScriptedExchange) {
    if case .computed(let answer) = step.content {
      var computed = answer(request)
      if computed.latency == .zero { computed.latency = step.latency }
      computed.timings = computed.timings ?? step.timings
      return play(computed, for: request, to: exchange)
    }
    let events = ScriptedTransport.events(of: step, for: request)
    guard let time else {
      for (event, _) in events { exchange.tell(event) }
      return
    }
    ScriptedTransport.tell(events[...], to: exchange, in: time, elapsed: .zero)
    if let total = request.limits.total {
      exchange.hold(time.after(total) { exchange.tell(.failed(TransportFailure(.timeout(.total)))) })
    }
  }

  /// Tells events one after the other: timers of the same moment need not fire in order.
  private static func tell(
    _ events: ArraySlice<(event: TransportEvent, time: Duration)>,
    to exchange: ScriptedExchange,
    in time: TimeSource,
    elapsed: Duration
  ) {
    guard let moment = events.first?.time else { return }
    let timer = time.after(moment - elapsed) {
      let due = events.prefix { $0.time == moment }
      for (event, _) in due { exchange.tell(event) }
      tell(events.dropFirst(due.count), to: exchange, in: time, elapsed: moment)
    }
    exchange.hold(timer)
  }

  private static func events(of step: Step, for request: TransportRequest) -> [(event: TransportEvent, time: Duration)]
  {
    var (events, time) = ([(event: TransportEvent, time: Duration)](), step.latency)
    let add = { (chunks: [Data]) in
      for (index, chunk) in chunks.enumerated() {
        if index > 0 { time += step.pause }
        events.append((.chunk(chunk), time))
      }
    }
    switch step.content {
    case .response(let status, let headers, let chunks):
      if let length = request.body.length, length > 0 { events.append((.sent(length), time)) }
      var headers = headers
      if !chunks.isEmpty, !headers.contains(name: "Content-Length") {
        headers["Content-Length"] = "\(chunks.reduce(0) { $0 + $1.count })"
      }
      var head = ResponseHead(status: status, headers: headers, url: request.url)
      if request.wantsTimings { head.timings = step.timings }
      events.append((.head(head), time))
      add(chunks)
      events.append((.finished, time))
    case .failure(let failure, let head, let chunks):
      if let head { events.append((.head(head), time)) }
      add(chunks)
      events.append((.failed(failure), time))
    case .silence, .computed:
      break
    }
    return events
  }
}

/// An exchange of a script.
private final class ScriptedExchange: TransportExchange, Sendable {
  private struct State {
    var receiver: (@Sendable (TransportEvent) -> Void)?
    var timers: [any Cancellable] = []
  }

  private let state: Locked<State>
  private let note: @Sendable ((inout ScriptedTransport.Call) -> Void) -> Void

  init(
    _ receiver: @escaping @Sendable (TransportEvent) -> Void,
    note: @escaping @Sendable ((inout ScriptedTransport.Call) -> Void) -> Void
  ) {
    state = Locked(State(receiver: receiver))
    self.note = note
  }

  func hold(_ timer: any Cancellable) {
    let isOver = state.withLock { state in
      if state.receiver != nil { state.timers.append(timer) }
      return state.receiver == nil
    }
    if isOver { timer.cancel() }
  }

  func tell(_ event: TransportEvent) {
    let isEnd =
      switch event {
      case .finished, .failed: true
      case .sent, .head, .chunk: false
      }
    let receiver = isEnd ? end() : state.withLock { $0.receiver }
    receiver?(event)
  }

  func cancel() {
    if end() != nil { note { $0.isCancelled = true } }
  }

  func pause() {
    note { $0.isPaused = true }
  }

  func resume() {
    note { $0.isPaused = false }
  }

  private func end() -> (@Sendable (TransportEvent) -> Void)? {
    let (receiver, timers) = state.withLock { state in
      let rest = (state.receiver, state.timers)
      state.receiver = nil
      state.timers = []
      return rest
    }
    for timer in timers { timer.cancel() }
    return receiver
  }
}
