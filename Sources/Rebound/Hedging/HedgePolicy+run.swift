import Combine
import StreamSupport

extension HedgePolicy {
  /// Runs an asynchronous function, a second time while the first has not returned, and takes what comes first.
  ///
  ///     let forecast = try await policy.run { hedge throws(NetworkFailure) in
  ///       try await client.forecast(for: city, from: mirrors[hedge])
  ///     }
  ///
  /// The decisions and events are those of a publisher that is hedged with the same policy. Each attempt runs in a task of
  /// its own. The attempts that lose are cancelled, and waited for: one that does not heed a cancel is not left behind, and
  /// keeps the caller waiting. What they return is dropped; what they throw goes to ``DroppedErrors``. For idempotent
  /// functions only.
  ///
  /// - Parameters:
  ///   - time: Measures time and waits; ``TimeSource/current`` unless told otherwise.
  ///   - operation: One attempt; gets its number, 0 for the primary one, then 1 and so on.
  /// - Returns: What the first attempt returned that did not fail.
  /// - Throws: What the primary attempt threw when all fail, unless the policy names another error; a fatal error at once.
  ///   When the caller's task is cancelled, no attempt begins any more, and the first error of an attempt is thrown;
  ///   `CancellationError` if it was cancelled before.
  @inlinable
  public nonisolated(nonsending) func run<Value: Sendable>(
    time: TimeSource? = nil,
    _ operation: @escaping @Sendable (_ hedge: Int) async throws(Failure) -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let time = time ?? .current
    var machine = HedgeMachine(self)
    machine.begin(now: time.now)
    let race = HedgeRace<Failure, Value>()
    race.begin(0, operation)
    guard let first = race.takeOutcome() else {
      return try await race.run(&machine, time, operation)
    }
    // It has returned without a wait: nobody else races, and no timer is set.
    if case .value(_, let value) = first {
      machine.won(0, now: time.now)
      return value
    }
    return try await race.run(&machine, time, first: first, operation)
  }
}

/// How an attempt has ended.
@usableFromInline
enum HedgeOutcome<Failure: Error, Value: Sendable>: Sendable {
  case value(Int, Value)
  case failure(Int, Failure)
}

/// The attempts of one call, and what they and the timer have to tell; the caller alone asks the machine.
@usableFromInline
final class HedgeRace<Failure: Error, Value: Sendable>: Sendable {
  @usableFromInline typealias Machine = HedgeMachine<Failure>
  @usableFromInline typealias Outcome = HedgeOutcome<Failure, Value>

  @usableFromInline
  struct State {
    /// What has come, in order.
    @usableFromInline var outcomes = Queue<Outcome>()
    @usableFromInline var running = 0
    /// Those of the attempts, also of such as have ended.
    @usableFromInline var tasks: [Task<Void, Never>] = []
    @usableFromInline var isCancelled = false
    var timer: (any Cancellable)?
    /// When the timer rings, and whether it has.
    var due: Duration?
    var hasRung = false
    @usableFromInline var waiter: UnsafeContinuation<Void, Never>?

    @inlinable
    init() {}

    @inlinable
    mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? { waiter.take() }
  }

  @usableFromInline let state = Locked(State())

  @inlinable
  init() {}

  /// Begins an attempt, on this thread until it first waits.
  @inlinable
  func begin(_ hedge: Int, _ operation: @escaping @Sendable (Int) async throws(Failure) -> Value) {
    state.withLock { $0.running += 1 }
    let task = startNow {
      let outcome: Outcome
      do throws(Failure) { outcome = .value(hedge, try await operation(hedge)) } catch {
        outcome = .failure(hedge, error)
      }
      self.end(outcome)
    }
    let isCancelled = state.withLock { state in
      if state.running > 0 { state.tasks.append(task) }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  @inlinable
  func end(_ outcome: Outcome) {
    let waiter = state.withLock { state in
      state.running -= 1
      state.outcomes.append(outcome)
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  @inlinable
  func takeOutcome() -> Outcome? { state.withLock { $0.outcomes.popFirst() } }

  /// Goes on from where the primary attempt waits, or has failed.
  @usableFromInline
  nonisolated(nonsending) func run(
    _ machine: inout Machine,
    _ time: TimeSource,
    first: Outcome? = nil,
    _ operation: @escaping @Sendable (Int) async throws(Failure) -> Value
  ) async throws -> Value {
    let isAbandoned = if case .failure(_, let error) = first { isAbandonment(error) } else { Task.isCancelled }
    // As for a publisher: the primary attempt is under way before the first delay begins.
    if !isAbandoned { carryOut(unlessCancelled(machine.watch(now: time.now)), machine.due, time, operation) }
    let result = await result(&machine, time, first: first, operation)
    await end()
    return try result.get()
  }

  /// Asks the machine about one outcome after the other, until one of them is that of the call.
  private nonisolated(nonsending) func result(
    _ machine: inout Machine,
    _ time: TimeSource,
    first: Outcome?,
    _ operation: @escaping @Sendable (Int) async throws(Failure) -> Value
  ) async -> Result<Value, any Error> {
    var next = first
    while true {
      guard let outcome = next.take() ?? takeOutcome() else {
        if let due = await nextOutcomeOrTime(), !Task.isCancelled {
          // A clock that is early by its tolerance has let this much time pass all the same.
          carryOut(unlessCancelled(machine.timeHasCome(now: max(time.now, due))), machine.due, time, operation)
        }
        continue
      }
      switch outcome {
      case .value(let hedge, let value):
        machine.won(hedge, now: time.now)
        return .success(value)
      case .failure(_, let error) where isAbandonment(error):
        machine.cancel()
        return .failure(error)
      case .failure(let hedge, let error):
        let step = machine.failed(hedge, with: error, now: time.now)
        if let failure = step.failure { return .failure(failure) }
        // Whoever hears of it may cancel, and nothing else may be under way whose end could be waited for.
        if Task.isCancelled {
          machine.cancel()
          return .failure(error)
        }
        carryOut(step, machine.due, time, operation)
      }
    }
  }

  /// What is to begin, while an attempt runs or has failed already; whoever has heard of it may have cancelled.
  private func unlessCancelled(_ step: Machine.Step) -> Machine.Step { Task.isCancelled ? Machine.Step() : step }

  /// Begins what is to begin, and sets the timer if that is for another moment than before.
  private func carryOut(
    _ step: Machine.Step,
    _ due: Duration?,
    _ time: TimeSource,
    _ operation: @escaping @Sendable (Int) async throws(Failure) -> Value
  ) {
    for launch in step.launches {
      launch.begin()
      begin(launch.hedge, operation)
    }
    var isNew = false
    let superseded: (any Cancellable)? = state.withLock { state in
      guard state.due != due else { return nil }
      (state.due, state.hasRung) = (due, false)
      // What has an outcome already is heard first; its step then sets the timer.
      isNew = due != nil
      return state.timer.take()
    }
    superseded?.cancel()
    guard isNew, let due else { return }
    let timer = time.soon(.at(due)) { self.ring(due) }
    let isWanted = state.withLock { state in
      guard state.due == due, !state.hasRung, !state.isCancelled else { return false }
      state.timer = timer
      return true
    }
    if !isWanted { timer.cancel() }
  }

  private func ring(_ due: Duration) {
    let waiter: UnsafeContinuation<Void, Never>? = state.withLock { state in
      guard state.due == due, !state.isCancelled else { return nil }
      state.hasRung = true
      state.timer = nil
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  /// Waits until there is an outcome, or the time has come.
  ///
  /// - Returns: The time, if that has come.
  private nonisolated(nonsending) func nextOutcomeOrTime() async -> Duration? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isThere = state.withLock { state in
          if !state.outcomes.isEmpty || state.hasRung { return true }
          state.waiter = continuation
          return false
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      cancelAll()
    }
    return state.withLock { state in
      guard state.outcomes.isEmpty, state.hasRung else { return nil }
      let due = state.due
      (state.due, state.hasRung) = (nil, false)
      return due
    }
  }

  private func cancelAll() {
    let before = state.withLock { state in
      let before = state
      state.isCancelled = true
      state.timer = nil
      return before
    }
    before.timer?.cancel()
    for task in before.tasks { task.cancel() }
  }

  /// Cancels what still runs, and waits for it.
  private nonisolated(nonsending) func end() async {
    cancelAll()
    state.withLock { ($0.due, $0.hasRung) = (nil, false) }
    while true {
      if let late = takeOutcome() {
        if case .failure(_, let error) = late, !isOverdueWait(error) { DroppedErrors.report(error, by: "HedgePolicy") }
      } else if state.withLock({ $0.running > 0 }) {
        _ = await nextOutcomeOrTime()
      } else {
        return
      }
    }
  }
}
