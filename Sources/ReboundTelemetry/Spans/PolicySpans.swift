import Combine
import Rebound
import StreamSupport

/// Makes spans of what policies decide: one of each execution, or part of it, that a `Stopwatch` measures.
///
///     let spans = PolicySpans(of: events, whenEnded: lines.write)     // lines: JSONLines
///     let weather = try Pipeline<Forecast>("weather", events: events) {
///       Stopwatch()
///       Retry(.standard)
///       Stopwatch("attempt")
///     }
///
/// Here an execution is a span "weather" of the part "pipeline", with each attempt as a span inside of it, and what the policies
/// have decided as its events. A policy of one's own need say nothing for it. It is the same for functions, publishers and
/// sequences.
///
/// - What is decided outside of all stopwatches of the pipeline is in no span, nor is what shared objects tell of themselves (a
///   breaker that opens), which is of no execution.
/// - A pipeline that is run inside of another one's asynchronous function has spans of its own, whose ``PolicySpan/parent`` is
///   the other one's. What subscribes inside of a publisher has none.
/// - An execution that begins while nobody listens has no span, nor has one whose `StopwatchEvent` the stream leaves out.
///
/// As long as this object is there, it listens.
public final class PolicySpans: Sendable {
  // A reference, so that a change moves nothing. Touched with the lock held, or when it is taken out.
  private final class Execution {
    var events: [Int: Kept<PolicyEvent>] = [:]
    var children: [Int: [PolicySpan]] = [:]

    var isEmpty: Bool { events.isEmpty && children.isEmpty }
  }

  private struct Kept<Element> {
    var first: [Element] = []
    var dropped = 0

    mutating func append(_ element: Element) {
      if first.count < PolicySpan.limit { first.append(element) } else { dropped += 1 }
    }
  }

  private struct State {
    /// Those of which something is to be kept until a span ends.
    var executions = LeastRecentlyUsed<ExecutionID, Execution>()
    var dropped = 0
    var subscription: AnyCancellable?

    /// What is kept of an execution, which makes it the most recently used one.
    ///
    /// - Returns: That, and what was dropped for it, to be released with the lock open.
    mutating func use(_ id: ExecutionID, limit: Int) -> (execution: Execution, dropped: Execution?) {
      if let known = executions.use(id) { return (known, nil) }
      let new = Execution()
      _ = executions.set(new, for: id)
      guard executions.count > limit else { return (new, nil) }
      dropped += 1
      return (new, executions.removeOldest()?.value)
    }
  }

  private let events: PolicyEvents
  private let limit: Int
  private let whenEnded: @Sendable (PolicySpan) -> Void
  private let state = Locked(State())

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - events: Whose decisions to make spans of.
  ///   - limit: Of how many executions something is kept while they are under way: of more, those are dropped of which
  ///     nothing was heard for the longest time.
  ///   - whenEnded: Gets each span when it is over, with those inside of it: on whichever thread that is, with no lock held.
  ///     One that ends after the one around it, as a call may that another has joined, comes by itself, and so do those
  ///     beyond ``PolicySpan/limit``.
  public init(of events: PolicyEvents, limit: Int = 1_000, whenEnded: @escaping @Sendable (PolicySpan) -> Void) {
    self.events = events
    self.limit = max(limit, 1)
    self.whenEnded = whenEnded
    let subscription = events.sink { [weak self] event in self?.write(event) }
    state.withLock { $0.subscription = subscription }
  }

  /// How many executions were dropped, whose spans have lost the events and the spans inside of them that had come before.
  public var droppedCount: Int { state.withLock { $0.dropped } }

  private func write(_ event: PolicyEvent) {
    guard let place = event.place, let id = place.span else { return }
    if let end = place.end, let measured = event.decision as? StopwatchEvent {
      finish(id, end, event, measured)
    } else {
      let released = state.withLock { state in
        let (execution, dropped) = state.use(place.execution, limit: limit)
        execution.events[id.number, default: Kept()].append(event)
        return dropped
      }
      withExtendedLifetime(released) {}
    }
  }

  private func finish(_ id: ExecutionID.Span, _ end: SpanEnd, _ event: PolicyEvent, _ measured: StopwatchEvent) {
    let time = events.time
    let start = event.time - measured.duration
    let wallClockStart = time.wallClock - (time.now - start)
    let (ended, released) = state.withLock { state -> (PolicySpan?, Execution?) in
      let known = state.executions.use(id.execution)
      let kept = known?.events.removeValue(forKey: id.number)
      let span = PolicySpan(
        id: id,
        parent: end.parent,
        name: event.source,
        part: measured.part,
        outcome: measured.outcome,
        start: start,
        wallClockStart: wallClockStart,
        duration: measured.duration,
        events: kept?.first ?? [],
        droppedEventCount: kept?.dropped ?? 0,
        children: known?.children.removeValue(forKey: id.number) ?? []
      )
      if end.isInsideOfParent, let parent = end.parent {
        let (execution, dropped) = state.use(id.execution, limit: limit)
        let isKept = execution.children[parent.number, default: []].count < PolicySpan.limit
        if isKept { execution.children[parent.number, default: []].append(span) }
        return (isKept ? nil : span, dropped)
      }
      return (span, known?.isEmpty ?? false ? state.executions.remove(id.execution) : nil)
    }
    withExtendedLifetime(released) {}
    if let ended { whenEnded(ended) }
  }
}
