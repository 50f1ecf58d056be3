import Combine

/// The moment by which work is to be done.
///
///     let forecast = try await TimeoutPolicy.total(.seconds(30)).run {
///       request.timeout = Deadline.current?.limiting(.seconds(10)) ?? .seconds(10)
///       return try await client.send(request)
///     }
///
/// A limit for the whole is of use to its parts only if they can read it: a request that has two seconds left should
/// not be given ten. ``current`` has it; for publishers, while they are subscribed to.
public struct Deadline: Sendable {
  /// The moment, on the time of ``time``.
  public let moment: Duration
  /// Measures the time that is left.
  public let time: TimeSource
  /// Whether somebody ends what is under way when the time is over, so that nothing has to heed it.
  @usableFromInline package let isEnforced: Bool

  /// The nearest deadline that the current task runs under, or the subscription that is being made; `nil` if there is
  /// none.
  ///
  /// A ``TimeoutPolicy`` sets it for its function, and all tasks that are the function's children, and for each subscription
  /// that it makes.
  @TaskLocal public static var current: Deadline?

  /// The current deadline, if what waits has to end by itself when it is over; see ``TimeoutPolicy/cooperative()``.
  @inlinable
  package static var toHeed: Deadline? {
    current.flatMap { $0.isEnforced ? nil : $0 }
  }

  /// Does something under a deadline, or under none, in place of the current one.
  ///
  /// For what runs elsewhere than where it was asked for: on a timer's thread, or in the task of somebody else.
  @inlinable
  package static func replaced<Result>(by deadline: Deadline?, _ operation: () throws -> Result) rethrows -> Result {
    // Setting one allocates.
    if deadline == nil, current == nil { return try operation() }
    return try $current.withValue(deadline, operation: operation)
  }

  /// A deadline this long from now.
  ///
  /// - Parameters:
  ///   - limit: How long; a negative one counts as zero.
  ///   - time: Measures the time that is left.
  public init(in limit: Duration, on time: TimeSource = .current) {
    self.init(at: time.now + limit.clampedToDelay, on: time)
  }

  /// A deadline at a moment.
  public init(at moment: Duration, on time: TimeSource) {
    self.init(at: moment, on: time, isEnforced: false)
  }

  init(at moment: Duration, on time: TimeSource, isEnforced: Bool) {
    (self.moment, self.time, self.isEnforced) = (moment, time, isEnforced)
  }

  /// The time that is left, never negative.
  public var remaining: Duration { Swift.max(moment - time.now, .zero) }

  /// The time that is left, never negative, for whoever has read a clock already.
  func remaining(at now: Duration, on time: TimeSource) -> Duration {
    time.custom === self.time.custom ? Swift.max(moment - now, .zero) : remaining
  }

  /// Whether no time is left.
  public var isOver: Bool { time.now >= moment }

  /// The shorter of a limit of one's own and the time that is left.
  ///
  /// - Parameter limit: One's own limit; `nil` if there is none.
  public func limiting(_ limit: Duration?) -> Duration {
    limit.map { Swift.min($0, remaining) } ?? remaining
  }

  /// Whichever of two deadlines has less time left now.
  ///
  /// - Parameter other: The other deadline; `nil` counts as no limit.
  @inlinable
  public func nearer(_ other: Deadline?) -> Deadline {
    guard let other else { return self }
    return isBefore(other) ? self : other
  }

  @usableFromInline
  package func isBefore(_ other: Deadline) -> Bool {
    // Of one time, as nearly always, the moments say it without a look at the clock.
    if time.custom === other.time.custom { return moment <= other.moment }
    return remaining <= other.remaining
  }
}

extension Deadline: CustomStringConvertible {
  /// The time that is left: "2.5 seconds left".
  public var description: String { "\(remaining) left" }
}
