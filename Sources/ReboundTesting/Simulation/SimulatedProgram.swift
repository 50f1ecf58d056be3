import Combine
import Rebound
import StreamSupport

/// A program and what is asked of each of its runs.
struct SimulatedProgram {
  struct Outcome {
    let report: SimulationReport
    let cause: (any Error)?

    /// What tells one failure from another.
    var kind: String? {
      cause.map { ($0 as? SimulationProblem)?.kind ?? String(describing: type(of: $0)) }
    }
  }

  /// How the body ended, and when.
  private struct Ending {
    let failure: (any Error)?
    let time: Int
  }

  /// How many steps a program is given to clean up after a cancel.
  private static let stepsAfterCancel = 10_000

  let location: CodeLocation
  let limits: SimulationLimits
  /// What is wrong though the body has not thrown, asked when all is quiet.
  var verdict: @Sendable () -> (any Error)? = { nil }
  let body: @Sendable () async throws -> Void

  func run(seed: UInt64, _ strategy: any SchedulingStrategy) throws(SimulationUnavailable) -> Outcome {
    if let missing = SimulationEnvironment.missing { throw SimulationUnavailable(missing: missing) }
    let run = SimulationRun(seed: seed, strategy: strategy)
    SimulationRegistry.add(run)
    defer { SimulationRegistry.remove(run) }
    // Around the whole run, since timers and queues do their work in the task that calls it.
    return SimulationThread.enter(run) { TimeSource.$current.withValue(run.time) { conduct(run) } }
  }

  private func conduct(_ run: SimulationRun) -> Outcome {
    let ending = SharedEnding()
    let root = Task { [body] in
      do {
        try await body()
        ending.set(Ending(failure: nil, time: run.now))
      } catch {
        ending.set(Ending(failure: error, time: run.now))
      }
    }
    let settling = max(limits.settling, .zero).wholeNanoseconds
    let isQuiet = run.drive(patience: limits.stepsAtOneMoment) {
      if let end = ending.value { return end.time.addingClamped(settling) }
      // Time that goes on for a heartbeat's sake alone would do so for centuries.
      return run.steps < limits.steps ? .max : 0
    }
    let end = ending.value
    let report = SimulationReport(
      duration: .nanoseconds(end?.time ?? run.now),
      steps: run.steps,
      decisions: run.trace.decisions,
      schedule: run.trace.schedule,
      diagram: run.trace.diagram
    )
    let cause = end?.failure ?? verdict() ?? problem(of: run, isQuiet: isQuiet, hasEnded: end != nil)
    if end == nil {
      // Lets go of what it holds, as far as it heeds a cancel.
      root.cancel()
      _ = run.drive(patience: Self.stepsAfterCancel) { run.now }
    }
    run.close()
    return Outcome(report: report, cause: cause)
  }

  private func problem(of run: SimulationRun, isQuiet: Bool, hasEnded: Bool) -> SimulationProblem? {
    guard isQuiet else { return .restless(steps: limits.stepsAtOneMoment) }
    if hasEnded, !run.outsidePlaces.isEmpty { return .outsideWork(places: run.outsidePlaces) }
    let (tasks, timers) = run.left(hasEnded: hasEnded)
    guard hasEnded else {
      return run.steps < limits.steps ? .stuck(waiting: tasks) : .endless(steps: run.steps, waiting: tasks)
    }
    guard !limits.allowsLeftOvers else { return nil }
    let subscriptions = run.subscriptions
    guard !tasks.isEmpty || timers > 0 || !subscriptions.isEmpty else { return nil }
    return .leftOver(tasks: tasks, timers: timers, subscriptions: subscriptions)
  }

  private final class SharedEnding: Sendable {
    private let state = Locked<Ending?>(nil)

    var value: Ending? { state.withLock { $0 } }

    func set(_ ending: Ending) { state.withLock { $0 = ending } }
  }
}

/// What has to be in its place before the first run.
enum SimulationEnvironment {
  /// What is missing; looked up once, and put in its place by that.
  static let missing: String? = {
    #if compiler(>=6.3) && os(Linux)
      let missing = SimulatedExecutor.missing
      if missing == nil {
        SystemTimers.divert { SimulationThread.current?.systemTime }
        QueueDiversion.divert { SimulationThread.current?.queues }
      }
      return missing
    #else
      return "the language's run time does not let executors be replaced"
    #endif
  }()
}
