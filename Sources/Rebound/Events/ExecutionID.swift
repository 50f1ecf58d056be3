/// Which execution of a ``Pipeline`` decisions are of, among those whose decisions are told to the same ``PolicyEvents``.
///
/// Numbered from 1, in the order in which executions begin that somebody listens to; a publisher's execution is one
/// subscription.
public struct ExecutionID: Hashable, Sendable, CustomStringConvertible {
  /// Its number.
  public let number: Int

  package init(_ number: Int) {
    self.number = number
  }

  /// The number: "12".
  public var description: String { "\(number)" }

  /// Which part of an execution it is that a ``Stopwatch`` measures.
  public struct Span: Hashable, Sendable, CustomStringConvertible {
    /// The execution.
    public let execution: ExecutionID
    /// Its number among the spans of the execution, from 1, in the order in which they begin.
    public let number: Int

    package init(_ number: Int, of execution: ExecutionID) {
      (self.number, self.execution) = (number, execution)
    }

    /// Both numbers: "12.1".
    public var description: String { "\(execution).\(number)" }
  }
}

/// Where in an execution a decision is told.
package struct ExecutionPlace: Sendable {
  package let execution: ExecutionID
  /// The one around the policy, or whose end it is.
  package let span: ExecutionID.Span?
  /// Said by the end of a span alone.
  package var end: SpanEnd?
}

/// What the end of a span says of the one around it.
package struct SpanEnd: Sendable {
  package let parent: ExecutionID.Span?
  /// Whether that is of the same execution, and will end later.
  package let isInsideOfParent: Bool
}
