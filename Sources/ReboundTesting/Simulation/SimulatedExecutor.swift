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
      guard let platform = Task.defaultExecutor as? any TaskExecutor & SchedulingExecutor else {
        return "the default executor keeps no timers"
      }
      guard RuntimeSymbols.areThere else { return "the concurrency library has no hook for the main actor" }
      guard SystemCalls.replace() else { return "the system's clock cannot be replaced" }
      Factory.executor.withLock { $0 = SimulatedExecutor(platform) }
      _createExecutors(factory: Factory.self)
      RuntimeSymbols.setMainExecutor { SimulationThread.current?.main.asUnownedSerialExecutor() }
      return nil
    }()

    private enum Factory: ExecutorFactory {
      static let executor = Locked<(any TaskExecutor)?>(nil)
      static var mainExecutor: any MainExecutor { MainActor.executor }
      static var defaultExecutor: any TaskExecutor { executor.withLock { $0 } ?? Task.defaultExecutor }
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

/// Where jobs of a run stand when they are on no actor: an executor that no task prefers, so that a task does not go on to an
/// actor on the spot, and each such hop is a choice of the schedule.
final class SimulatedGlobalExecutor: TaskExecutor, @unchecked Sendable {
  // Unchecked, because only the thread of the run comes here. Unowned, because the run owns this.
  private unowned let run: SimulationRun

  init(_ run: SimulationRun) {
    self.run = run
  }

  func enqueue(_ job: consuming ExecutorJob) {
    run.enqueue(UnownedJob(job))
  }
}
