import Combine
import StreamSupport

extension Policy {
  /// Runs an asynchronous function under this policy.
  ///
  /// The decisions and events are those of a publisher under the same policy. The function runs where the caller does. A
  /// cancelled task is no failure; one that was cancelled before begins nothing, and asks no policy.
  ///
  /// Code that is generic over a policy calls ``Policy/execute(_:_:)``: it knows only this form of `run`, which cannot cut off
  /// an attempt, and a ``TimedMachine`` would never be asked whether its time is over.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits; ``TimeSource/current`` unless told otherwise.
  ///   - operation: The call; made as often as the policy says.
  /// - Returns: What the function returns.
  /// - Throws: What the function throws, or what the policy puts in its place; ``TimedOut`` when ``Deadline/current`` is over
  ///   while it waits; `CancellationError` when the task was cancelled before, or is while it waits.
  @inlinable
  public nonisolated(nonsending) func run<Value>(
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    return try await drive(ExecutionContext(time: time), operation)
  }

  /// One execution: asks the machine before and after each attempt.
  @inlinable @inline(__always)
  nonisolated(nonsending) func drive<Value>(
    _ execution: ExecutionContext,
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws -> Value {
    var machine = makeMachine(execution)
    var decision = machine.begins(execution)
    while true {
      // What needs no wait needs no other function, either.
      while case .wait(let pause) = decision, pause <= .zero {
        guard !Task.isCancelled else {
          machine.cancelled(execution)
          throw CancellationError()
        }
        decision = machine.begins(execution)
      }
      if case .proceed = decision {
      } else {
        try await machine.untilItProceeds(decision, execution)
      }
      do throws(Failure) {
        let value = try await operation()
        decision = machine.succeeded(execution)
        if case .proceed = decision { return value }
      } catch {
        if isAbandonment(error) {
          machine.cancelled(execution)
          throw error
        }
        decision = machine.failed(with: error, execution)
        if case .proceed = decision { throw error }
      }
    }
  }
}

/// Whether a function has thrown because its task was cancelled.
@inlinable
func isCancellation(_ error: some Error) -> Bool {
  isExactly(error, CancellationError.self) || Task.isCancelled
}

/// Whether nobody waits any longer for a function that has thrown this: its task was cancelled, or the time was over while a
/// policy inside of it waited for something of this process.
///
/// Of the call neither says anything, so that policies hear of both as of a cancel.
@inlinable
package func isAbandonment(_ error: some Error) -> Bool {
  isAbandonment(error, under: Deadline.current) || Task.isCancelled
}

/// The same for a publisher that was subscribed to under a deadline: by what it has failed with alone, since the task that it
/// fails in may be anybody's.
@inlinable
func isAbandonment(_ error: some Error, under deadline: @autoclosure () -> Deadline?) -> Bool {
  isExactly(error, CancellationError.self)
    || (isExactly(error, TimedOut.self) || isExactly(error, TracedError.self))
      && isOverdueWait(error, under: deadline())
}

@usableFromInline
func isOverdueWait(_ error: any Error, under deadline: @autoclosure () -> Deadline? = Deadline.current) -> Bool {
  guard let overdue = (error.withoutTrace as? TimedOut)?.heeded.deadline else { return false }
  // Outside of a nearer deadline that somebody has set inside, there may be time left to do something about it.
  return deadline()?.isBefore(overdue) ?? false
}

/// Whether an error is of a type that nothing inherits from: a comparison, in place of a cast that takes ten times as long.
@inlinable @inline(__always)
func isExactly<Other: Error>(_ error: some Error, _ type: Other.Type) -> Bool {
  exactType(of: error) == type
}

/// The type of an error, also of one in a box.
@inlinable @inline(__always)
func exactType<Failure: Error>(of error: Failure) -> any Error.Type {
  guard Failure.self == (any Error).self else { return Failure.self }
  // The types are the same, which the compiler does not see: it would put the box into another box, in new memory.
  return type(of: unsafeBitCast(error, to: (any Error).self))
}

extension PolicyMachine {
  /// Does what the machine has decided, and asks it again, until it lets an attempt begin.
  ///
  /// - Throws: What it ends the execution with; ``TimedOut`` when a deadline that nobody enforces comes in a wait, and
  ///   `CancellationError` when the task is cancelled in one.
  @usableFromInline
  nonisolated(nonsending) mutating func untilItProceeds(
    _ decision: Decision<Failure>,
    _ execution: ExecutionContext
  ) async throws {
    var decision = decision
    while true {
      switch decision {
      case .proceed: return
      case .fail(let error): throw error
      case .refuse(let error): throw error
      case .finish: throw FinishedWithoutValue()
      case .wait(let pause) where pause <= .zero:
        guard !Task.isCancelled else {
          cancelled(execution)
          throw CancellationError()
        }
        decision = begins(execution)
      case .wait(let pause):
        do { decision = try await wait(for: pause, execution) } catch {
          cancelled(execution)
          throw error
        }
      case .park(let register):
        do { decision = try await park(register, execution) } catch {
          cancelled(execution)
          throw error
        }
      }
    }
  }

  /// Waits for a while, or until the machine decides otherwise when its own time comes before.
  ///
  /// - Returns: What it decides then.
  private nonisolated(nonsending) mutating func wait(
    for pause: Duration,
    _ execution: ExecutionContext
  ) async throws -> Decision<Failure> {
    var pause = pause
    if Self.isTimed, wakeTime != nil {
      let end = execution.now + pause.clampedToDelay
      while let due = wakeTime, due < end {
        try await execution.time.wait(for: due - execution.now, until: Deadline.toHeed)
        let decision = timeHasCome(due, execution)
        guard case .proceed = decision else { return decision }
      }
      pause = end - execution.now
    }
    try await execution.time.wait(for: pause, until: Deadline.toHeed)
    return begins(execution)
  }

  /// Waits until it is woken, or until the machine decides otherwise when its own time comes before.
  ///
  /// - Returns: What it decides then.
  private nonisolated(nonsending) mutating func park(
    _ register: (Waker) -> Void,
    _ execution: ExecutionContext
  ) async throws -> Decision<Failure> {
    let waker = TaskWaker()
    var isRegistered = false
    while true {
      let due = Self.isTimed ? wakeTime : nil
      var timer: (any Cancellable)?
      defer { timer?.cancel() }
      let isWoken: Bool
      do {
        isWoken = try await Answer<Bool>.wait(until: Deadline.toHeed) {
          (answer: @escaping @Sendable (Result<Bool, Never>) -> Void) in
          waker.wait(answer)
          if !isRegistered { register(Waker(waker)) }
          isRegistered = true
          if let due { timer = execution.time.soon(.at(due)) { waker.ring() } }
          return waker
        }
      } catch {
        waker.end()
        throw error
      }
      if isWoken { return woken(execution) }
      guard let due else { continue }
      let decision = timeHasCome(due, execution)
      guard case .proceed = decision else { return decision }
    }
  }

  /// Asks the machine at its own time; a clock that is early by its tolerance has let this much time pass all the same.
  private mutating func timeHasCome(_ due: Duration, _ execution: ExecutionContext) -> Decision<Failure> {
    var moment = execution
    moment.floor = due
    return timerFired(moment)
  }
}

/// Wakes an asynchronous function, and holds what is to be cancelled with its task.
private final class TaskWaker: Wakeable, Cancellable {
  private struct State {
    /// Tells who waits whether it is woken, or only the machine's own time has come.
    var answer: (@Sendable (Result<Bool, Never>) -> Void)?
    var isWoken = false
    /// That time has come, and the wait goes on unless the machine says otherwise.
    var hasRung = false
    var pending: (any Cancellable)?
    var isCancelled = false
  }

  private let state = Locked(State())

  /// Answers once, as soon as it is woken or rings.
  func wait(_ answer: @escaping @Sendable (Result<Bool, Never>) -> Void) {
    let isWoken = state.withLock { state in
      state.hasRung = false
      if !state.isWoken { state.answer = answer }
      return state.isWoken
    }
    if isWoken { answer(.success(true)) }
  }

  /// What is kept is the machine's from here on, which hears of a cancel itself: that the wait is over cancels nothing.
  func wake() {
    let (answer, before) = state.withLock { state in
      state.isWoken = true
      return (state.answer.take(), state.pending.take())
    }
    answer?(.success(true))
    withExtendedLifetime(before) {}
  }

  func ring() {
    let answer = state.withLock { state in
      state.hasRung = state.answer != nil
      return state.answer.take()
    }
    answer?(.success(false))
  }

  func keep(_ pending: any Cancellable) {
    let (before, isCancelled) = state.withLock { state in
      let before = state.pending
      if !state.isCancelled { state.pending = pending }
      return (before, state.isCancelled)
    }
    withExtendedLifetime(before) {}
    if isCancelled { pending.cancel() }
  }

  /// One wait is over, and with it all unless it has only rung.
  func cancel() {
    if !state.withLock({ $0.hasRung }) { end() }
  }

  /// Nobody waits any more.
  func end() { state.exchange(State(isCancelled: true)).pending?.cancel() }
}
