/// Measures how long the executions of a ``Pipeline`` take, and tells how each of them ends.
///
///     let weather = try Pipeline<Forecast>("weather", events: events) {
///       Stopwatch()
///       Timeout(total: .seconds(10))
///       Retry(.standard)
///     }
///
/// Policies tell what they do about trouble, and nothing of calls that just succeed. A stopwatch does: outermost, it is a rate
/// of successes and a distribution of durations, all attempts and waits included, as whoever calls sees them. Inside of a retry
/// it measures each attempt; give it another name there.
///
/// What it measures is a span: what the policies inside of it decide says in which one (``PolicyEvent/span``), and `PolicySpans` of
/// ReboundTelemetry makes spans of traces of them, with an inner stopwatch's inside of the outer one's.
///
/// It changes nothing about an execution, and tells each of them once, in all forms of a pipeline. An execution that begins
/// while nobody listens is not measured: no clock is read for it, and nothing is built.
public struct Stopwatch: Policy {
  /// What is measured.
  public let part: String

  /// Makes a stopwatch.
  ///
  /// - Parameter part: What is measured, for a label of metrics.
  public init(_ part: String = "pipeline") {
    self.part = part
  }

  /// What it is, by the name of what it measures.
  public var descriptor: StageDescriptor { StageDescriptor(.stopwatch, name: part) }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(part: part) }

  /// Measures an asynchronous function, if somebody listens.
  @inlinable
  public nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == any Error {
    guard execution.isListened else { return try await call() }
    return try await measure(call, execution)
  }

  @usableFromInline
  func measure<Call: AsyncCall>(
    _ call: Call,
    _ execution: ExecutionContext,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Call.Output where Call.Failure == any Error {
    guard let span = execution.origin?.newSpan else { return try await drive(execution) { try await call() } }
    let call = span.takeOver(call)
    let inside = ExecutionContext(time: execution.givenTime, origin: span)
    return try await DecisionOrigin.$current.withValue(span) {
      // As in a pipeline's `run`.
      _ = isolation
      return try await drive(inside) { try await call() }
    }
  }

  /// One execution.
  public struct Machine: PolicyMachine {
    /// It does not care what calls fail with.
    public typealias Failure = any Error

    let part: String
    var start: Duration?

    /// Looks at the clock if somebody listens.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      if execution.isListened { start = execution.now }
      return .proceed
    }

    /// Tells it.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      stop(.succeeded, execution)
      return .proceed
    }

    /// Tells it.
    public mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
      stop(.failed, execution)
      return .proceed
    }

    /// Tells it: as a success after a value, as breakers count it.
    public mutating func cancelled(_ execution: ExecutionContext) {
      stop(execution.delivered > 0 ? .succeeded : .cancelled, execution)
    }

    private mutating func stop(_ outcome: StopwatchEvent.Outcome, _ execution: ExecutionContext) {
      guard let start else { return }
      self.start = nil
      execution.origin?.tellEnd(StopwatchEvent(part: part, outcome: outcome, duration: execution.now - start))
    }
  }
}
