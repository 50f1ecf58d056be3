import StreamSupport

/// Where decisions come from, and who is told of them.
///
/// One for a pipeline. Where somebody listens there is one more for each execution, and one for each part of it that a stopwatch
/// measures: all stages inside of the stopwatch tell by way of that.
@usableFromInline
final class DecisionOrigin: Sendable {
  /// That of the asynchronous function that runs, where somebody listens to it.
  @TaskLocal static var current: DecisionOrigin?

  /// Does what is no part of the call that runs, though that has set it going.
  @usableFromInline
  static func left(_ operation: () -> Void) {
    ForeignCall.left {
      // Setting one allocates.
      if current == nil { return operation() }
      $current.withValue(nil, operation: operation)
    }
  }

  /// The name of the pipeline.
  let source: String
  /// `nil` if nobody could listen.
  @usableFromInline let events: PolicyEvents?
  /// `nil` for a pipeline.
  private let execution: ExecutionID?
  /// Of a part.
  private let span: ExecutionID.Span?
  /// The span around it; it may be of another execution, in which the pipeline was run.
  private let parent: ExecutionID.Span?
  /// The one around a part, up to that of the execution.
  private let outer: DecisionOrigin?
  /// Of an execution: how many parts of it were measured.
  private let spanCount = Locked(0)
  /// Of a part: above zero once it has ended; an atomic, since it is read and set with the lock held that puts ends in order.
  private let ends = Tally()

  /// That of a pipeline.
  convenience init(source: String, events: PolicyEvents?) {
    self.init(source, events, nil, span: nil, parent: nil, in: nil)
  }

  private init(
    _ source: String,
    _ events: PolicyEvents?,
    _ execution: ExecutionID?,
    span: ExecutionID.Span?,
    parent: ExecutionID.Span?,
    in outer: DecisionOrigin?
  ) {
    (self.source, self.events, self.execution) = (source, events, execution)
    (self.span, self.parent, self.outer) = (span, parent, outer)
  }

  /// That of an execution that begins.
  @usableFromInline var newExecution: DecisionOrigin {
    guard let events else { return self }
    // Numbers of other events say nothing here.
    let parent = Self.current.flatMap { $0.events === events ? $0.innermost : nil }
    return DecisionOrigin(source, events, events.nextExecution(), span: nil, parent: parent, in: nil)
  }

  /// That of a part that a stopwatch begins to measure; `nil` if nobody has listened when the execution began.
  @usableFromInline var newSpan: DecisionOrigin? {
    guard let execution else { return nil }
    var whole = self
    while let outer = whole.outer { whole = outer }
    let number = whole.spanCount.withLock { count in
      count += 1
      return count
    }
    return DecisionOrigin(
      source,
      events,
      execution,
      span: ExecutionID.Span(number, of: execution),
      parent: innermost,
      in: self
    )
  }

  /// The innermost span around whatever begins here.
  private var innermost: ExecutionID.Span? { span ?? parent }

  func tell(_ decision: @autoclosure () -> any PolicyDecision) {
    events?.tell(decision(), of: source, at: execution.map { ExecutionPlace(execution: $0, span: span) })
  }

  /// The stopwatch has stopped.
  func tellEnd(_ event: StopwatchEvent) {
    guard let execution, let span, let outer else { return tell(event) }
    events?.tell(event, of: source, at: ExecutionPlace(execution: execution, span: span)) { place in
      ends.add(1)
      let isInside = outer.span != nil && outer.ends.count == 0
      place?.end = SpanEnd(parent: parent, isInsideOfParent: isInside)
    }
    // Also where nobody is told.
    ends.add(1)
  }
}

/// A call that tells its decisions somewhere.
protocol TellingCall {
  /// The same one, with another place for that.
  func telling(_ origin: DecisionOrigin) -> Self
}

extension DecisionOrigin {
  /// A call with all its stages inside of a part.
  func takeOver<Call: AsyncCall>(_ call: Call) -> Call {
    (call as? any TellingCall)?.telling(self) as? Call ?? call
  }
}

extension CallInStage: TellingCall {
  func telling(_ origin: DecisionOrigin) -> CallInStage {
    CallInStage(
      stage: box,
      execution: ExecutionContext(time: time, origin: origin),
      call: origin.takeOver(call)
    )
  }
}

extension OutlinedCall: TellingCall {
  func telling(_ origin: DecisionOrigin) -> OutlinedCall { OutlinedCall(call: origin.takeOver(call)) }
}
