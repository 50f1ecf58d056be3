#if compiler(>=6.3) && os(Linux)
  import Foundation
  import StreamSupport
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

  /// The default executor of the process, once there was a simulation: it gives a run the jobs of the run's own thread,
  /// and all others to the executor that was there before.
  final class SimulatedExecutor: TaskExecutor, SchedulingExecutor {
    /// What was there before.
    private let platform: any TaskExecutor & SchedulingExecutor

    private init(_ platform: any TaskExecutor & SchedulingExecutor) {
      self.platform = platform
    }

    /// Looked up before it is put in its place; `nil` if it cannot stand in for the platform's.
    static let shared = (Task.defaultExecutor as? any TaskExecutor & SchedulingExecutor).map { SimulatedExecutor($0) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      guard !SimulationThread.withCurrent({ $0.enqueue(job) }) else { return }
      guard !SimulationRegistry.takesFromOutside(job) else { return }
      platform.enqueue(ExecutorJob(job))
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob,
      after delay: C.Duration,
      tolerance: C.Duration?,
      clock: C
    ) {
      guard let run = SimulationThread.current, let delay = delay as? Duration else {
        platform.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
        return
      }
      run.enqueue(UnownedJob(job), after: delay)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob,
      at instant: C.Instant,
      tolerance: C.Duration?,
      clock: C
    ) {
      guard let run = SimulationThread.current, let delay = clock.now.duration(to: instant) as? Duration else {
        platform.enqueue(job, at: instant, tolerance: tolerance, clock: clock)
        return
      }
      run.enqueue(UnownedJob(job), after: delay)
    }

    /// Puts it in its place, once; what is missing for that, if something is.
    static let missing: String? = {
      guard shared != nil else { return "the default executor keeps no timers" }
      guard RuntimeSymbols.areThere else { return "the concurrency library has no hook for the main actor" }
      guard SystemCalls.replace() else { return "the system's clock cannot be replaced" }
      guard TaskCreation.replace() else { return "tasks cannot be given an executor to prefer" }
      _createExecutors(factory: Factory.self)
      RuntimeSymbols.setMainExecutor { SimulationThread.current?.main.asUnownedSerialExecutor() }
      return nil
    }()

    private enum Factory: ExecutorFactory {
      static var mainExecutor: any MainExecutor { MainActor.executor }
      static var defaultExecutor: any TaskExecutor { if let shared { shared } else { Task.defaultExecutor } }
    }
  }
#endif

/// The main actor of one run.
///
/// Unchecked, because only the thread of the run comes here.
final class SimulatedMainExecutor: SerialExecutor, @unchecked Sendable {
  /// Unowned, because the run owns this.
  private unowned let run: SimulationRun

  init(_ run: SimulationRun) {
    self.run = run
  }

  func enqueue(_ job: consuming ExecutorJob) {
    run.enqueue(UnownedJob(job), onMain: true)
  }
}

/// Where the jobs of simulations come that are on no actor.
///
/// The tasks prefer one such executor, and their jobs stand on another: so a task is handed over wherever it awaits what is
/// elsewhere, to an actor and back from it, and each such hop is a choice of the schedule.
///
/// Both are the same for all runs, so that a task which outlives its run has its executor still.
final class SimulatedGlobalExecutor: TaskExecutor, Sendable {
  private static let place = SimulatedGlobalExecutor()
  private static let preference = SimulatedGlobalExecutor()

  /// What jobs stand on: no task prefers it.
  static let current = place.asUnownedTaskExecutor()
  /// What tasks prefer: no job stands on it.
  static let preferred = preference.asUnownedTaskExecutor()

  private init() {}

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard !SimulationThread.withCurrent({ $0.enqueue(job) }) else { return }
    #if compiler(>=6.3) && os(Linux)
      // Another thread made it ready, or its run is over.
      SimulatedExecutor.shared?.enqueue(ExecutorJob(job))
    #endif
  }
}
