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
  /// - Throws: ``InvalidBulkheadPolicy``, with the number that makes no sense.
  public init(
    maxConcurrent: Int,
    maxQueue: Int = 0,
    maxWait: Duration? = nil,
    order: Order = .fifo
  ) throws(InvalidBulkheadPolicy) {
    if maxConcurrent < 1 { throw .concurrencyNotPositive(maxConcurrent) }
    if maxQueue < 0 { throw .negativeQueue(maxQueue) }
    if let maxWait, maxWait <= .zero { throw .waitNotPositive(maxWait) }
    self.maxConcurrent = maxConcurrent
    self.maxQueue = maxQueue
    self.maxWait = maxWait?.clampedToDelay
    self.order = order
  }
}

/// A bulkhead policy that makes no sense, refused when it is made.
public enum InvalidBulkheadPolicy: Error, Hashable, Sendable {
  /// Not even one call may run.
  case concurrencyNotPositive(Int)
  /// Fewer than none may wait.
  case negativeQueue(Int)
  /// The longest wait is zero or below.
  case waitNotPositive(Duration)
}

extension InvalidBulkheadPolicy: CustomStringConvertible {
  /// What is wrong, with the number that is, and what to give instead.
  public var description: String {
    switch self {
    case .concurrencyNotPositive(let count): "Bulkhead: maxConcurrent is \(count). Give at least 1."
    case .negativeQueue(let count): "Bulkhead: maxQueue is \(count). Give 0 to refuse at once, or more to wait."
    case .waitNotPositive(let wait):
      "Bulkhead: maxWait is \(wait). Give a positive duration, nil for no limit, or maxQueue 0 to refuse at once."
    }
  }
}
