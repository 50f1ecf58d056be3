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
  ///   - isolation: The caller's.
  ///   - operation: The call; made as often as the policy says.
  /// - Returns: What the function returns.
  /// - Throws: What the function throws, or what the policy puts in its place, unless the caller's task was cancelled
  ///   before; `CancellationError` when the task is cancelled while it waits.
  @inlinable
  public func run<Value: Sendable>(
    time: TimeSource? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws -> Value {
    try await race(ExecutionContext(time: time), isolation: isolation, operation)
  }

  /// One execution whose attempts can be cut off.
  @inlinable
  func race<Value: Sendable>(
    _ execution: ExecutionContext,
    isolation: isolated (any Actor)?,
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws -> Value {
    var machine = makeMachine(execution)
    var decision = machine.begins(execution)
    while true {
      if case .proceed = decision {
      } else {
        try await machine.untilItProceeds(decision, execution, isolation: isolation)
      }
      let attempt = PolicyAttempt<Machine, Value>(Self.self, machine, execution)
      let outcome = await attempt.run(isolation: isolation, operation)
      machine = attempt.takeMachine()
      switch outcome {
      case .value(let value):
        decision = machine.succeeded(execution)
        if case .proceed = decision { return value }
      case .failure(let error):
        if isCancellation(error) {
          machine.cancelled(execution)
          throw error
        }
        decision = machine.failed(with: error, execution)
        if case .proceed = decision { throw error }
      case .cutOff(let verdict):
        decision = verdict
      }
    }
  }
}

/// How an attempt has ended.
@usableFromInline
enum AttemptOutcome<Failure: Error, Value> {
  case value(Value)
  case failure(Failure)
  /// The machine has ended it.
  case cutOff(Decision<Failure>)
}

/// One attempt in a task of its own, and the timer that the machine wants beside it.
///
/// Unchecked, because the lock guards all that changes. The machine is used by one thread at a time: by the timer while it
/// rings, by the caller before the task begins and after it was waited for.
@usableFromInline
final class PolicyAttempt<Machine: TimedMachine, Value: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Failure = Machine.Failure
  @usableFromInline typealias Outcome = AttemptOutcome<Failure, Value>

  /// For errors that come too late.
  @usableFromInline let policy: any Policy.Type
  @usableFromInline let lock = Lock()
  @usableFromInline var machine: Machine
  @usableFromInline let execution: ExecutionContext
  @usableFromInline var outcome: Outcome?
  @usableFromInline var hasEnded = false
  @usableFromInline var isCancelled = false
  @usableFromInline var task: Task<Void, Never>?
  @usableFromInline var timer: (any Cancellable)?
  @usableFromInline var isRinging = false
  @usableFromInline var waiter: UnsafeContinuation<Void, Never>?

  @inlinable
  init(_ policy: any Policy.Type, _ machine: Machine, _ execution: ExecutionContext) {
    self.policy = policy
    self.machine = machine
    self.execution = execution
  }

  @inlinable
  func takeMachine() -> Machine { machine }

  @inlinable
  func run(
    isolation: isolated (any Actor)?,
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
  ) async -> Outcome {
    // Before the task, which may take all the time there is before it first waits.
    let due = machine.wakeTime
    let deadline = machine.deadline
    let task = startNow {
      let outcome: Outcome
      do throws(Failure) {
        if let deadline {
          outcome = .value(try await withDeadline(deadline, operation))
        } else {
          outcome = .value(try await operation())
        }
      } catch {
        outcome = .failure(error)
      }
      self.end(outcome)
    }
    if !isOver { await waitOut(task, due: due) }
    // It is over: the caller has waited for that.
    return outcome ?? .cutOff(.refuse(CancellationError()))
  }

  @inlinable
  var isOver: Bool { lock.withLock { hasEnded && !isRinging } }

  /// Waits until the task has ended, which the timer or a cancel of the caller may hurry.
  @usableFromInline
  func waitOut(_ task: Task<Void, Never>, due: Duration?) async {
    lock.withLock { self.task = task }
    if let due { setTimer(due) }
    // Cancelled already where that comes too late for the handler.
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isOver = lock.withLock {
          if hasEnded, !isRinging { return true }
          waiter = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let timer = lock.withLock {
        isCancelled = true
        return self.timer
      }
      timer?.cancel()
      task.cancel()
    }
  }

  /// The task has ended.
  @inlinable
  func end(_ outcome: Outcome) {
    var late: Failure?
    let (timer, waiter): ((any Cancellable)?, UnsafeContinuation<Void, Never>?) = lock.withLock {
      hasEnded = true
      if self.outcome == nil {
        self.outcome = outcome
      } else if case .failure(let error) = outcome {
        late = error
      }
      let timer = self.timer
      self.timer = nil
      return (timer, takeWaiter())
    }
    if let late { dropped(late) }
    timer?.cancel()
    waiter?.resume()
  }

  @usableFromInline
  func dropped(_ late: Failure) {
    DroppedErrors.report(late, by: policyName(policy))
  }

  /// Whoever waits, if there is nothing more to wait for; with the lock held.
  @inlinable
  func takeWaiter() -> UnsafeContinuation<Void, Never>? {
    guard hasEnded, !isRinging else { return nil }
    let waiter = self.waiter
    self.waiter = nil
    return waiter
  }

  private func setTimer(_ due: Duration) {
    let timer = execution.time.soon(after: due - execution.time.now) { self.ring(due) }
    let isWanted = lock.withLock {
      guard !hasEnded, !isCancelled, outcome == nil else { return false }
      self.timer = timer
      return true
    }
    if !isWanted { timer.cancel() }
  }

  /// The time has come that the machine has named.
  private func ring(_ due: Duration) {
    let rings = lock.withLock {
      guard !hasEnded, !isCancelled, outcome == nil else { return false }
      isRinging = true
      timer = nil
      return true
    }
    guard rings else { return }
    var moment = execution
    moment.floor = due
    let decision = machine.timerFired(moment)
    var next: Duration?
    if case .proceed = decision { next = machine.wakeTime }
    let (task, waiter): (Task<Void, Never>?, UnsafeContinuation<Void, Never>?) = lock.withLock {
      isRinging = false
      if case .proceed = decision { return (nil, takeWaiter()) }
      // What has ended meanwhile was first.
      guard outcome == nil else { return (nil, takeWaiter()) }
      outcome = .cutOff(decision)
      return (self.task, takeWaiter())
    }
    task?.cancel()
    if let waiter { waiter.resume() } else if let next { setTimer(next) }
  }
}

/// Runs a function with a deadline that its parts can read.
@inlinable
func withDeadline<Value, Failure: Error>(
  _ deadline: Deadline,
  _ operation: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result: Result<Value, Failure> = await Deadline.$current.withValue(deadline.nearer(Deadline.current)) {
    do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
  }
  return try result.get()
}

/// Starts a task on this thread, at once where the system can.
@inlinable
func startNow(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
  if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, *) {
    return Task.immediate { await operation() }
  }
  return Task { await operation() }
}
