/// What surrounds an execution: its time, its deadline, who is told of decisions, and what was delivered so far.
public struct ExecutionContext: Sendable {
  /// `nil` for the current one, which is only looked up where it is needed.
  @usableFromInline var givenTime: TimeSource?
  /// Who is told; `nil` for nobody.
  @usableFromInline let origin: DecisionOrigin?
  /// The deadline of a publisher; an asynchronous function reads its task's.
  @usableFromInline let ownDeadline: Deadline?
  /// Whether it is an asynchronous function, which goes on in its own task wherever it is woken.
  @usableFromInline package let isAsynchronous: Bool
  /// A timer that was early by a tolerance has let this much time pass all the same.
  @usableFromInline var floor: Duration?

  /// How many values the attempt has delivered; zero for an asynchronous function.
  public var delivered: Int { deliveredCount }
  @usableFromInline var deliveredCount = 0
  /// Whether somebody waits for a value.
  public var isAwaited: Bool { isValueAwaited }
  @usableFromInline var isValueAwaited = true
}

extension ExecutionContext {
  // Not in the struct, and by way of the initialiser that takes all fields: a struct of so many that is made field by field is
  // put together in memory, and then copied.

  /// For an asynchronous function.
  @usableFromInline
  package init(time: TimeSource?) {
    self.init(time: time, origin: nil)
  }

  /// For an asynchronous function.
  @usableFromInline
  init(time: TimeSource?, origin: DecisionOrigin?) {
    self.init(givenTime: time, origin: origin, ownDeadline: nil, isAsynchronous: true)
  }

  /// For a publisher.
  @usableFromInline
  init(time: TimeSource, origin: DecisionOrigin?, deadline: Deadline?) {
    self.init(givenTime: time, origin: origin, ownDeadline: deadline, isAsynchronous: false)
  }

  /// The source of time.
  @inlinable @inline(__always)
  public var time: TimeSource { givenTime ?? .current }

  /// The same for other threads than the task's, where ``TimeSource/current`` may be another.
  @usableFromInline
  var onAnyThread: ExecutionContext {
    var copy = self
    copy.givenTime = time
    return copy
  }

  /// The present; read it once for each decision, and only if it matters.
  @inlinable @inline(__always)
  public var now: Duration { now(on: time) }

  /// The present, for whoever has looked ``time`` up.
  @inlinable @inline(__always)
  func now(on time: TimeSource) -> Duration {
    let now = time.now
    if let floor, floor > now { return floor }
    return now
  }

  /// The nearest deadline that this runs under, if there is one.
  @inlinable
  public var deadline: Deadline? { isAsynchronous ? Deadline.current : ownDeadline }

  /// Whether anybody is told of decisions; where nobody is, none needs to be described.
  @inlinable
  public var isListened: Bool { origin?.events?.isListened ?? false }

  /// Tells whoever listens to the pipeline of a decision.
  ///
  /// - Parameter decision: Not built if nobody listens.
  public func tell(_ decision: @autoclosure () -> any PolicyDecision) {
    origin?.tell(decision())
  }

  /// What is protected: the name of the pipeline, if there is one.
  public var source: String? { origin?.source }
}
