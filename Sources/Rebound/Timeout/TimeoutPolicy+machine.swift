extension TimeoutPolicy: Policy {
  /// The limits of one execution.
  public struct Machine: TimedMachine {
    /// It does not care what calls fail with.
    public typealias Failure = any Error

    private let policy: TimeoutPolicy
    private var start = Duration.zero
    private var waitingSince: Duration?
    private var values = 0
    private var due: Duration?
    /// By when all has to be done.
    public private(set) var deadline: Deadline?

    private var machine: TimeoutMachine { TimeoutMachine(policy) }

    /// Starts the time.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      let time = execution.time
      begin(at: execution.now(on: time), execution)
      let limit = execution.isAsynchronous ? policy.storage.limitOfFunction : policy.storage.whole
      if let limit { deadline = Deadline(at: start + limit, on: time, isEnforced: true) }
      // Nothing is begun that has no time.
      if let due, due <= .zero { return expire(.zero, execution) ?? .proceed }
      return .proceed
    }

    mutating func begin(at start: Duration, _ execution: ExecutionContext) {
      self.start = start
      // A function returns once, and is waited for from its start.
      if observesValues, execution.isAsynchronous || execution.isAwaited { waitingSince = .zero }
      due = machine.due(waitingSince: waitingSince, values: 0)
    }

    /// When the nearest limit is reached.
    public var wakeTime: Duration? { due.map { start + $0 } }

    /// Values matter to the limits for the first one and between them.
    public var observesValues: Bool { policy.storage.looksAtValues }

    /// Counts the values, and from when the next is waited for.
    public mutating func valuesCame(_ execution: ExecutionContext) {
      let hasCome = execution.delivered > values
      values = execution.delivered
      if !execution.isAwaited {
        waitingSince = nil
      } else if hasCome || waitingSince == nil {
        waitingSince = execution.now - start
      }
      due = machine.due(waitingSince: waitingSince, values: values)
    }

    /// Ends it if a limit is reached.
    public mutating func timerFired(_ execution: ExecutionContext) -> Decision<any Error> {
      if let end = expire(execution.now - start, execution) { return end }
      due = machine.due(waitingSince: waitingSince, values: values)
      return .proceed
    }

    private mutating func expire(_ elapsed: Duration, _ execution: ExecutionContext) -> Decision<any Error>? {
      let situation = TimeoutMachine.Situation(
        elapsed: elapsed,
        waitingSince: waitingSince,
        values: execution.delivered
      )
      guard case .expired(var error) = machine.verdict(situation) else { return nil }
      error.name = error.name ?? execution.source
      policy.settings.observer?(.timedOut(error))
      execution.tell(TimeoutEvent.timedOut(error))
      return .refuse(error)
    }
  }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(self) }
}

// Here, and by way of the one that has all fields; see the initialisers of ``ExecutionContext``.
extension TimeoutPolicy.Machine {
  init(_ policy: TimeoutPolicy) { self.init(policy: policy) }
}
