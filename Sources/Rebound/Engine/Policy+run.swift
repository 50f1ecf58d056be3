import Combine
import StreamSupport

extension Policy {
  /// Runs an asynchronous function under this policy.
  ///
  /// The decisions and events are those of a publisher under the same policy. The function runs where the caller does. A
  /// cancelled task is no failure.
  ///
  /// Code that is generic over a policy calls ``Policy/execute(_:_:)``: it knows only this form of `run`, which cannot cut off
  /// an attempt, and a ``TimedMachine`` would never be asked whether its time is over.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits; ``TimeSource/current`` unless told otherwise.
  ///   - operation: The call; made as often as the policy says.
  /// - Returns: What the function returns.
  /// - Throws: What the function throws, or what the policy puts in its place; ``TimedOut`` when ``Deadline/current`` is over
  ///   while it waits; `CancellationError` when the task is cancelled while it waits.
  @inlinable
  public nonisolated(nonsending) func run<Value>(
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws -> Value {
    try await drive(ExecutionContext(time: time), operation)
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
        do {
          try await execution.time.wait(for: pause, until: Deadline.toHeed)
        } catch {
          cancelled(execution)
          throw error
        }
        decision = begins(execution)
      case .park(let register):
        do {
          try await Answer<Void>.wait(until: Deadline.toHeed) {
            (wake: @escaping @Sendable (Result<Void, Never>) -> Void) in
            let waker = TaskWaker(wake)
            register(Waker(waker))
            return waker
          }
        } catch {
          cancelled(execution)
          throw error
        }
        decision = woken(execution)
      }
    }
  }
}

/// Wakes an asynchronous function, and holds what is to be cancelled with its task.
private final class TaskWaker: Wakeable, Cancellable {
  private struct State {
    var pending: (any Cancellable)?
    var isCancelled = false
  }

  private let state = Locked(State())
  private let answer: @Sendable (Result<Void, Never>) -> Void

  init(_ answer: @escaping @Sendable (Result<Void, Never>) -> Void) {
    self.answer = answer
  }

  /// What is kept is the machine's from here on, which hears of a cancel itself: that the wait is over cancels nothing.
  func wake() {
    let before = state.withLock { $0.pending.take() }
    answer(.success(()))
    withExtendedLifetime(before) {}
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

  func cancel() { state.exchange(State(isCancelled: true)).pending?.cancel() }
}
