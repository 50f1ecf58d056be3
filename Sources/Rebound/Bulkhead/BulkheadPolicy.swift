/// How many calls run at the same time, and how many wait for their turn.
public struct BulkheadPolicy: Hashable, Sendable {
  /// Who is let in next of those who wait.
  public enum Order: Hashable, Sendable {
    /// Who came first; the default, and fair.
    case fifo
    /// Who came last: under overload some calls are quick, instead of all being late.
    case lifo
    /// Who has the highest priority; of equal ones, who came first.
    case priority
    /// Whose ``Deadline`` comes first; of equal ones, who came first, and last of all who has none.
    ///
    /// A call that has less time left when its turn has come than hardly any call exceeds is refused, and the next one gets
    /// the place: nobody would take its answer any more. One that finds a free place is let in whatever is left, so that a
    /// service which has become quicker is found to be.
    ///
    /// Source: earliest deadline first, Liu and Layland, 1973. Without the refusal it is the worst of all orders under
    /// overload: each call begins when it is nearly too late.
    case earliestDeadline
  }

  /// How many calls run at the same time.
  public let maxConcurrent: Int
  /// How many wait; whoever comes when as many wait is refused.
  public let maxQueue: Int
  /// How long a call waits at most; `nil` for as long as it takes.
  public let maxWait: Duration?
  /// Who is let in next.
  public let order: Order

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - maxConcurrent: How many calls run at the same time.
  ///   - maxQueue: How many wait; none unless told otherwise.
  ///   - maxWait: How long a call waits at most.
  ///   - order: Who is let in next.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(
    maxConcurrent: Int,
    maxQueue: Int = 0,
    maxWait: Duration? = nil,
    order: Order = .fifo
  ) throws(InvalidPolicy) {
    let advice = "Give a positive duration, nil for no limit, or maxQueue 0 to refuse at once."
    try PolicyKind.bulkhead.require("maxConcurrent", maxConcurrent, "Give at least 1.") { $0 >= 1 }
    try PolicyKind.bulkhead.require("maxQueue", maxQueue, "Give 0 to refuse at once, or more to wait.") { $0 >= 0 }
    try PolicyKind.bulkhead.require("maxWait", maxWait, advice) { $0 > .zero }
    self.maxConcurrent = maxConcurrent
    self.maxQueue = maxQueue
    self.maxWait = maxWait?.clampedToDelay
    self.order = order
  }
}
