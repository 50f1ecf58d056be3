import Combine
import Rebound
import StreamSupport

/// Events as lines of JSON (NDJSON), for whoever reads along: an inspector, a file, another process.
///
///     let lines = JSONLines(hiding: { $0 })
///     lines.follow(events)
///     let reading = lines.read { line in show(line) }
///
/// Each line is one object. Its names do not change; later versions may add some. All lines have
///
/// - `line`: its number, from 1. Numbers that are missing were lost on the way.
/// - `time`: when it was written, in seconds since this object was made.
/// - `type`: what it tells of.
///
/// A decision of a policy has the type `policy`, and
///
/// - `source`: the name of the pipeline or the shared object.
/// - `policy`: the kind in a word: `retry`, `circuit_breaker`.
/// - `decision`: what was decided, in a word: `retrying`, `open`.
/// - `severity`: `info`, `warning` or `error`.
/// - `text`: the event's `PolicyEvent.text`.
/// - `execution`, `span`: the `PolicyEvent.execution` and the `PolicyEvent.span`, if there are any: `12`, `12.1`.
/// - `details`: an object of the `PolicyDecision.details`, if there are any: `attempt`, `delay`, `from`.
/// - `measurements`: an object of the `PolicyDecision.measurements`, if there are any.
///
/// A gauge has the type `gauge`, and `source`, `policy`, `text`, `details`, `measurements`. A reader that was too slow gets a
/// line of the type `lost` with a `count`, and without number and time. ReboundHTTP writes calls and spans in the same way.
///
/// A ``PolicySpan`` has the type `span`, and `execution`, `span`, `parent` (if there is one), `name`, `part`, `outcome`, `start`
/// (seconds since the beginning of 1970), `duration`, the number of its `events`, and of its `dropped_events` if there are any.
/// The events themselves are the decisions of the same `span`.
///
/// Durations are in seconds. Texts have at most 4,000 characters of Unicode. Controls, separators of lines and signs that
/// change the direction of text are escaped, so a line is one line to every reader.
///
/// An inspector of one's own follows the decisions, has other things written beside them, such as each request for values, and
/// decides by the type of a line what to show:
///
///     struct Line: Decodable {
///       let type: String
///       let source, text, event, demand: String?
///       let count: Int?
///     }
///     let lines = JSONLines(hiding: { $0 })
///     lines.follow(events)
///     let watched = request.handleEvents(
///       receiveOutput: { _ in lines.write("request", [EventField("event", "value")]) },
///       receiveCancel: { lines.write("request", [EventField("event", "cancelled")]) },
///       receiveRequest: { demand in
///         let asked = demand.max.map { "\($0)" } ?? "unlimited"
///         lines.write("request", [EventField("event", "demand"), EventField("demand", asked)])
///       }
///     )
///     let inspector = lines.read(keeping: 500, on: TimeSource(queue)) { text in
///       guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) else { return }
///       switch line.type {
///       case "policy", "gauge": show("\(line.source ?? ""): \(line.text ?? "")")
///       case "request": show("\(line.event ?? "") \(line.demand ?? "")")
///       case "lost": show("\(line.count ?? 0) lines were lost: this reader is too slow")
///       default: break
///       }
///     }
///     lines.write(events.gauges)
///
/// Gauges are written when somebody asks for it, as in the last line. A reader passes over types that it does not know.
///
/// While nobody reads, nothing is built: what is followed has no subscriber, and ``write(_:_:)`` reads one number.
public final class JSONLines: Sendable {
  struct State: Drained {
    var number = 0
    var readers: [LineReader] = []
    var followed: [PolicyEvents] = []
    /// Of the first ones that are followed.
    var subscriptions: [AnyCancellable] = []
    /// Who subscribes or cancels.
    var loop = DrainLoop()

    mutating func takeNext() -> Adjustment? {
      if readers.isEmpty, !subscriptions.isEmpty {
        defer { subscriptions = [] }
        return .cancel(subscriptions)
      }
      guard !readers.isEmpty, subscriptions.count < followed.count else { return nil }
      return .subscribe(followed[subscriptions.count])
    }
  }

  enum Adjustment {
    case subscribe(PolicyEvents)
    case cancel([AnyCancellable])
  }

  private let time: TimeSource
  private let start: Duration
  private let common: String
  private let hide: @Sendable (String) -> String
  @usableFromInline let readerCount = Tally()
  let state = Locked(State())

  /// Makes lines that nobody reads yet.
  ///
  /// - Parameters:
  ///   - time: Says when a line is written, and hands lines on.
  ///   - common: What each line says besides, to tell the lines of several programs apart.
  ///   - hide: Leaves out of a text what must not be seen: an error may describe itself with an address. Called for each
  ///     text, while somebody reads, on the threads of those who write. ReboundHTTP has one that does as its `Redaction`.
  public init(
    time: TimeSource = .current,
    saying common: [EventField] = [],
    hiding hide: @escaping @Sendable (String) -> String
  ) {
    self.time = time
    start = time.now
    self.hide = hide
    self.common = Self.members(common, hide)
  }

  /// Whether anybody reads, for whom it is worth while to write.
  ///
  /// Reading it costs as good as nothing, so that it can be asked before each event.
  @inlinable
  public var isRead: Bool { readerCount.count > 0 }

  /// Writes a line for each decision that is told, while somebody reads.
  ///
  /// - Parameter events: Held as long as this is.
  public func follow(_ events: PolicyEvents) {
    state.withLock { $0.followed.append(events) }
    adjust()
  }

  /// Reads what is written from now on, until the result is cancelled.
  ///
  /// Nobody who writes waits for a reader. One that is slower than the lines come loses the oldest ones, and is told how
  /// many before it gets the next.
  ///
  /// - Parameters:
  ///   - limit: How many lines wait for the reader at most.
  ///   - time: On whose threads the reader is called, as with `TimeSource(queue)`; those of this object's time if `nil`.
  ///   - receive: Gets the lines, without a line break, one at a time and in order, with no lock held.
  /// - Returns: Ends it: no line comes after the one under way.
  public func read(
    keeping limit: Int = 1_000,
    on time: TimeSource? = nil,
    _ receive: @escaping @Sendable (String) -> Void
  ) -> AnyCancellable {
    let tellLoss = { @Sendable [common] (count: Int) in #"{"type":"lost","count":\#(count)\#(common)}"# }
    let reader = LineReader(limit: limit, time: time ?? self.time, tellingLoss: tellLoss, receive)
    state.withLock { $0.readers.append(reader) }
    readerCount.add(1)
    adjust()
    return AnyCancellable { self.leave(reader) }
  }

  /// Writes a line, if anybody reads.
  ///
  /// - Parameters:
  ///   - type: What it tells of, in a word.
  ///   - fields: What is known; not built while nobody reads. The names `line`, `time` and `type` are taken, and fields of
  ///     these names are left out.
  /// - Complexity: O(n) in the length of the line, and in the number of readers.
  public func write(_ type: String, _ fields: @autoclosure () -> [EventField]) {
    guard isRead else { return }
    var rest = ""
    EventField("time", time.now - start).write(into: &rest, hiding: hide)
    EventField("type", type).write(into: &rest, hiding: hide)
    rest += Self.members(fields(), hide) + common + "}"
    let sleeping = state.withLock { state in
      state.number += 1
      let line = #"{"line":\#(state.number)\#(rest)"#
      return state.readers.filter { $0.add(line) }
    }
    for reader in sleeping { reader.wake() }
  }

  private static let taken: Set<String> = ["line", "time", "type"]

  private static func members(_ fields: [EventField], _ hide: (String) -> String) -> String {
    var json = ""
    for field in fields where !taken.contains(field.name) { field.write(into: &json, hiding: hide) }
    return json
  }

  private func leave(_ reader: LineReader) {
    reader.end()
    state.withLock { $0.readers.removeAll { $0 === reader } }
    readerCount.add(-1)
    adjust()
  }

  /// Subscribes to what is followed if somebody reads, and to nothing if not.
  ///
  /// One thread at a time, with no lock held: whoever tells an event holds locks of its own.
  private func adjust() {
    state.drain { adjustment in
      switch adjustment {
      case .subscribe(let events):
        let subscription = events.sink { [weak self] in self?.write($0) }
        state.withLock { $0.subscriptions.append(subscription) }
      case .cancel(let subscriptions):
        for subscription in subscriptions { subscription.cancel() }
      }
    }
  }
}
