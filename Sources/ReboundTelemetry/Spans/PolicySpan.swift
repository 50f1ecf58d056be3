import Rebound

/// An execution of a pipeline, or a part of it, that a `Stopwatch` has measured: with when it was, what came of it, and what
/// policies have decided meanwhile.
///
/// The words are those of OpenTelemetry.
public struct PolicySpan: Identifiable, Sendable {
  /// How many ``events`` and ``children`` one has at most.
  public static let limit = 128

  /// Which span this is.
  public let id: ExecutionID.Span
  /// The span that it is a part of: of the same execution, or the one in whose asynchronous function its pipeline was run;
  /// `nil` if there is none.
  public let parent: ExecutionID.Span?
  /// The name of the pipeline.
  public let name: String
  /// What was measured.
  public let part: String
  /// How it has ended.
  public let outcome: StopwatchEvent.Outcome
  /// When it began, on the time of the `PolicyEvents`, as its ``events`` have it.
  public let start: Duration
  /// When it began, since the start of 1970 by the device's clock.
  public let wallClockStart: Duration
  /// How long it took.
  public let duration: Duration
  /// What was decided in it and in none of its ``children``, in order.
  public let events: [PolicyEvent]
  /// How many more there were.
  public let droppedEventCount: Int
  /// The spans inside of it, in the order in which they ended.
  public let children: [PolicySpan]
}
