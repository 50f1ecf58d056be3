import Combine
import StreamSupport

extension TimedMachine {
  /// Waits until an attempt has ended, which this machine, when its time comes, or a cancel of the caller may hurry.
  ///
  /// - Returns: What this has decided in place of the attempt, which is over then, too; `nil` if it has decided nothing.
  @usableFromInline
  nonisolated(nonsending) mutating func watch(
    _ phase: AttemptPhase,
    _ execution: ExecutionContext,
    _ cancel: @escaping @Sendable () -> Void
  ) async -> Decision<Failure>? {
    let timer = AttemptTimer(self, execution.onAnyThread, phase, cancel)
    if let wakeTime { timer.set(for: wakeTime) }
    await withTaskCancellationHandler {
      await phase.untilOver()
    } onCancel: {
      phase.close()
      cancel()
    }
    let end = timer.end()
    self = end.machine
    return end.verdict
  }
}

/// Whether an attempt runs, and whether its timer asks the machine meanwhile.
@usableFromInline
final class AttemptPhase: Sendable {
  private struct State {
    var isRunning = true
    var isAsked = false
    /// Nothing is decided any more: the caller was cancelled, or the attempt cut off.
    var isClosed = false
    var waiter: UnsafeContinuation<Void, Never>?

    var isOver: Bool { !isRunning && !isAsked }

    mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
      isOver ? waiter.take() : nil
    }
  }

  private let state = Locked(State())

  @usableFromInline
  init() {}

  @usableFromInline
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The attempt has ended.
  @usableFromInline
  func end() {
    let waiter = state.withLock { state in
      state.isRunning = false
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  /// Lets no timer ask any more.
  func close() {
    state.withLock { $0.isClosed = true }
  }

  /// - Returns: Whether the machine may be asked: the attempt runs, and nothing is decided.
  func beginAsking() -> Bool {
    state.withLock { state in
      guard state.isRunning, !state.isClosed else { return false }
      state.isAsked = true
      return true
    }
  }

  /// - Returns: Whether the attempt can be cut off; what has ended meanwhile was first.
  func cutOff() -> Bool {
    state.withLock { state in
      state.isClosed = true
      return state.isRunning
    }
  }

  func endAsking() {
    let waiter = state.withLock { state in
      state.isAsked = false
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  func untilOver() async {
    await withUnsafeContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.waiter = continuation }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
  }
}

/// Asks a machine when the time has come that it has named, while its attempt runs.
private final class AttemptTimer<Machine: TimedMachine>: TimerTarget {
  struct State {
    var machine: Machine
    var verdict: Decision<Machine.Failure>?
    var due: Duration?
    var timer: (any Cancellable)?
  }

  private let state: Locked<State>
  private let execution: ExecutionContext
  private let phase: AttemptPhase
  private let cancel: @Sendable () -> Void

  init(
    _ machine: Machine,
    _ execution: ExecutionContext,
    _ phase: AttemptPhase,
    _ cancel: @escaping @Sendable () -> Void
  ) {
    state = Locked(State(machine: machine))
    self.execution = execution
    self.phase = phase
    self.cancel = cancel
  }

  func set(for due: Duration) {
    state.withLock { $0.due = due }
    // Elsewhere than where all timers ring: observers are told, and the handlers of a cancel run, which may take their time.
    let timer = execution.time.ring(self, 0, .at(due))
    let before: (any Cancellable)? = state.withLock { state in
      // Otherwise it has rung before it was returned, and another was set.
      guard state.due == due else { return nil }
      let before = state.timer
      state.timer = timer
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// There is one timer at a time, which needs no number.
  func timerRang(_: Int) {
    guard phase.beginAsking() else { return }
    // Nobody else has the machine as long as it is asked.
    let (before, due) = state.withLock { ($0.machine, $0.due) }
    var (machine, moment) = (before, execution)
    moment.floor = due
    let decision = machine.timerFired(moment)
    if case .proceed = decision {
      state.withLock { $0.machine = machine }
      // Before the end, which takes the timer back.
      if let next = machine.wakeTime { set(for: next) }
      phase.endAsking()
    } else {
      let isCutOff = phase.cutOff()
      state.withLock { state in
        state.machine = machine
        if isCutOff { state.verdict = decision }
      }
      phase.endAsking()
      if isCutOff { cancel() }
    }
  }

  /// Takes the timer back.
  func end() -> State {
    let state = state.withLock { $0 }
    state.timer?.cancel()
    return state
  }
}
