import Combine

/// The moment by which work is to be done, as the time that is left.
///
///     let forecast = try await TimeoutPolicy.total(.seconds(30)).run {
///       request.timeoutInterval = Deadline.current?.limiting(.seconds(10)) ?? .seconds(10)
///       return try await client.send(request)
///     }
///
/// A limit for the whole is of use to its parts only if they can read it: a request that has two seconds left should
/// not be given ten. An asynchronous function reads ``current``; a publisher is made by a closure that gets the deadline,
/// see ``TimeoutPolicy/publisher(scheduler:options:failingWith:_:)``.
public struct Deadline: Sendable {
  private let left: @Sendable () -> Duration

  /// The nearest deadline that the current task runs under; `nil` if there is none.
  ///
  /// ``TimeoutPolicy/run(clock:isolation:_:)`` sets it for its function and all tasks that are the function's children.
  @TaskLocal public static var current: Deadline?

  /// A deadline this long from now.
  ///
  /// - Parameters:
  ///   - limit: How long; a negative one counts as zero.
  ///   - clock: Measures the time that is left.
  public init<C: Clock>(in limit: Duration, on clock: C = ContinuousClock()) where C.Duration == Duration {
    let moment = clock.now.advanced(by: limit.clampedToDelay)
    left = { clock.now.duration(to: moment) }
  }

  /// A deadline this long from now, on a time that is shared between executions.
  ///
  /// - Parameters:
  ///   - limit: How long; a negative one counts as zero.
  ///   - time: Measures the time that is left.
  public init(in limit: Duration, on time: MonotonicTime) {
    let moment = time.now + limit.clampedToDelay
    left = { moment - time.now }
  }

  /// A deadline this long from a moment, on a scheduler.
  init<Context: Scheduler>(in limit: Duration, from start: Context.SchedulerTimeType, on scheduler: Context) {
    let limit = limit.clampedToDelay
    let reading = Reading { limit - Duration(approximating: start.distance(to: scheduler.now)) }
    left = { reading.left() }
  }

  /// The time that is left, never negative.
  public var remaining: Duration { Swift.max(left(), .zero) }

  /// Whether no time is left.
  public var isOver: Bool { left() <= .zero }

  /// The shorter of a limit of one's own and the time that is left.
  ///
  /// - Parameter limit: One's own limit; `nil` if there is none.
  public func limiting(_ limit: Duration?) -> Duration {
    limit.map { Swift.min($0, remaining) } ?? remaining
  }

  /// Whichever of two deadlines has less time left now.
  ///
  /// - Parameter other: The other deadline; `nil` counts as no limit.
  public func nearer(_ other: Deadline?) -> Deadline {
    guard let other, other.remaining < remaining else { return self }
    return other
  }
}

extension Deadline: CustomStringConvertible {
  /// The time that is left: "2.5 seconds left".
  public var description: String { "\(remaining) left" }
}

/// What reads a scheduler's time.
///
/// Unchecked, because operators ask any scheduler for its time on whichever thread a value comes; one that could not
/// bear that would be of no use to Combine. Nothing here is changed.
private final class Reading: @unchecked Sendable {
  let left: () -> Duration

  init(_ left: @escaping () -> Duration) {
    self.left = left
  }
}
