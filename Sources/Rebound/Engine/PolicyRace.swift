import Combine
import StreamSupport

extension Policy where Machine: TimedMachine {
  /// Runs an asynchronous function under this policy, which may end it before it returns.
  ///
  /// The function runs in a task of its own, which is cancelled when the policy ends the execution, and waited for: a
  /// function that does not heed a cancel is not left behind, and keeps the caller waiting. What it returns after that is
  /// dropped, and what it throws goes to ``DroppedErrors``. The decisions and events are those of a publisher under the same
  /// policy.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits; ``TimeSource/current`` unless told otherwise.
  ///   - operation: The call; made as often as the policy says.
  /// - Returns: What the function returns.
  /// - Throws: What the function throws, or what the policy puts in its place, unless the caller's task is cancelled
  ///   by then; ``TimedOut`` when ``Deadline/current`` is over while it waits; `CancellationError` when the task was cancelled
  ///   before, or is while it waits.
  @inlinable
  public nonisolated(nonsending) func run<Value: Sendable>(
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) @escaping @Sendable () async throws(Failure) -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    return try await race(ExecutionContext(time: time), TypedClosureCall(operation))
  }

  /// One execution whose attempts can be cut off.
  ///
  /// Of a call, since a closure around one would need memory of its own.
  @inlinable
  nonisolated(nonsending) func race<Call: AsyncCall>(
    _ execution: ExecutionContext,
    _ call: Call
  ) async throws -> Call.Output where Call.Failure == Failure {
    var machine = makeMachine(execution)
    var decision = machine.begins(execution)
    while true {
      if case .proceed = decision {
      } else {
        try await machine.untilItProceeds(decision, execution)
      }
      let phase = AttemptPhase()
      let task = beginAttempt(phase, machine.deadline, call)
      if !phase.isOver {
        let cancel: @Sendable () -> Void = { task.cancel() }
        if let verdict = await machine.watch(phase, execution, cancel) {
          if case .failure(let late) = await task.value { reportLate(late) }
          decision = verdict
          continue
        }
      }
      switch await task.value {
      case .success(let value):
        decision = machine.succeeded(execution)
        if case .proceed = decision { return value }
      case .failure(let error):
        if isAbandonment(error) {
          machine.cancelled(execution)
          throw error
        }
        decision = machine.failed(with: error, execution)
        if case .proceed = decision { throw error }
      }
    }
  }

  @usableFromInline
  func reportLate(_ error: Failure) {
    DroppedErrors.report(error, by: policyName(Self.self))
  }
}

/// Begins an attempt, on this thread until it first waits, in a task of its own that sees the deadline.
@inlinable @inline(__always)
func beginAttempt<Call: AsyncCall>(
  _ phase: AttemptPhase,
  _ deadline: Deadline?,
  _ call: Call
) -> Task<Result<Call.Output, Call.Failure>, Never> {
  startNow {
    let outer = Deadline.current
    // Set in here: what is set around a task is copied into it, and for that the runtime makes a list of what it has copied.
    let result = await Deadline.$current.withValue(deadline?.nearer(outer) ?? outer) { await call.result() }
    phase.end()
    return result
  }
}

/// Starts a task on this thread, at once where the system can.
@inlinable @inline(__always)
func startNow<Success: Sendable>(
  _ operation: sending @escaping @isolated(any) () async -> Success
) -> Task<Success, Never> {
  if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, *) {
    return Task.immediate(operation: operation)
  }
  return Task(operation: operation)
}
